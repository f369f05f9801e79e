#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "experiments/compare/share.h"

namespace tapeline {

/// What is to be known of a comparison besides its configuration and the records of its cells. Kept as
/// comparison.json in its folder, without any value of a clock.
struct ComparisonFacts {
  std::string command;  ///< the command line that made it, the last one where it was gone on with
  std::string text_source, text_digest;
  Index text_tokens = 0;
  Index scored_tokens = 0;  ///< targets of the whole scored set
  int threads = 0;
  Share share;  ///< which of its cells the folder is for
};

/// The file's place in the folder of a comparison.
std::filesystem::path comparison_file(const std::filesystem::path& folder);

std::string facts_text(const ComparisonFacts& facts);
/// Throws FileError naming `place` for text that facts_text() did not write.
ComparisonFacts parse_facts(const std::string& text, const std::string& place);

/// Nothing when there is no file: a folder of a comparison made before there were such files.
std::optional<ComparisonFacts> read_facts(const std::filesystem::path& folder);
/// Replaces the file, atomically.
void write_facts(const std::filesystem::path& folder, const ComparisonFacts& facts);

}  // namespace tapeline
