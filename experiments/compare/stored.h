#pragma once

#include <filesystem>
#include <vector>

#include "experiments/compare/comparison.h"

namespace tapeline {

/// The comparison that stands in these folders (several: shares of one, by --cells, or seeds of the same
/// configuration): their finished cells together, seed by seed in the order of the plan. Throws FileError for
/// a folder that holds none, ConfigError for folders that do not belong together, naming the differing keys.
Comparison read_comparison(const std::vector<std::filesystem::path>& folders);

/// The folders by the comparison that they belong to: of one configuration but for the seeds, and of one
/// text; in the order in which they are given, whatever has been finished in them. Throws FileError for a
/// folder that holds no comparison.
std::vector<std::vector<std::filesystem::path>> group_comparisons(
    const std::vector<std::filesystem::path>& folders);

}  // namespace tapeline
