#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/error.h"
#include "experiments/compare/comparison_file.h"
#include "experiments/compare/stored.h"
#include "tests/experiments/comparison_samples.h"
#include "tests/support/temporary_folder.h"
#include "train/run_folder.h"

/// Folders of comparisons as they would have been made.
namespace tapeline::test {

inline ResolvedConfig two_encodings(std::vector<Assignment> more = {}) {
  ConfigSources sources;
  sources.preset = "smoke";
  sources.sets = {{"compare.encodings", "rope,learned", "--set"},
                  {"compare.seeds", "2", "--set"},
                  {"train.length", "64", "--set"}};
  sources.sets.insert(sources.sets.end(), more.begin(), more.end());
  return resolve_config(sources);
}

/// A folder with the configuration, and the records of cells as they would have been measured.
class Folders {
 public:
  std::filesystem::path begin(const std::string& name, const ResolvedConfig& config) const {
    const std::filesystem::path folder = folder_ / name;
    RunFolder(folder).claim(config, StoredFor::comparison);
    return folder;
  }
  static void add(const std::filesystem::path& folder, const std::string& cell, const CellRecord& record) {
    std::filesystem::create_directories(folder / "cells" / cell);
    write_record(folder / "cells" / cell, record);
  }
  std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }

 private:
  TemporaryFolder folder_;
};

inline ComparisonFacts sample_facts(const std::string& command, Share share = {}) {
  return {.command = command,
          .text_source = "kjv",
          .text_digest = "d1",
          .text_tokens = 4141414,
          .scored_tokens = 1000,
          .threads = 2,
          .share = share};
}

inline CellRecord sample_record(std::size_t cell) {
  CellRecord record = sample_comparison(2).cells.at(cell).record;
  record.corpus_digest = "d1";
  return record;
}

inline std::string why_refused(const std::vector<std::filesystem::path>& folders) {
  try {
    read_comparison(folders);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace tapeline::test
