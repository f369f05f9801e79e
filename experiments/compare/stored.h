#pragma once

#include <filesystem>
#include <vector>

#include "experiments/compare/comparison.h"

namespace tapeline {

/// The comparison that stands in these folders (several: shares of one, by --cells, or seeds of the same
/// configuration): their finished cells together, seed by seed in the order of the plan. Throws FileError for
/// a folder that holds none, ConfigError for folders that do not belong together, naming the differing keys.
Comparison read_comparison(const std::vector<std::filesystem::path>& folders);

/// A comparison, and the folders that it was read from.
struct StoredComparison {
  std::vector<std::filesystem::path> folders;
  Comparison comparison;
};

/// The comparisons that stand in these folders, each folder opened once. Those of one configuration but for
/// the seeds, and of one text, belong to one comparison, whatever has been finished in them; in the order in
/// which they are given. Throws as read_comparison().
std::vector<StoredComparison> read_comparisons(const std::vector<std::filesystem::path>& folders);

}  // namespace tapeline
