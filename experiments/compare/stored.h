#pragma once

#include <filesystem>
#include <vector>

#include "experiments/compare/comparison.h"

namespace tapeline {

/// The comparison that stands in these folders (several: shares of one, by --cells, or seeds of the same
/// configuration): their finished cells together, seed by seed in the order of the plan. Throws FileError for
/// a folder that holds none, ConfigError for folders that do not belong together, naming the differing keys.
Comparison read_comparison(const std::vector<std::filesystem::path>& folders);

}  // namespace tapeline
