#pragma once

#include <vector>

#include "data/splits.h"
#include "experiments/compare/cell.h"
#include "experiments/compare/share.h"
#include "experiments/compare/workload.h"

namespace tapeline {

/// All that a process does of a comparison: its cells, on one split of the text and one set of targets.
struct Layout {
  std::vector<Cell> cells;  ///< of this share; the points of a sweep first
  Index planned = 0;        ///< models of the whole comparison, points of a sweep not counted
  Splits splits;
  ComparedTargets targets;
  Workload workload;  ///< of `cells`
};

/// Lays out a comparison on a text of `tokens` tokens, of a vocabulary of so many. Throws ConfigError for
/// what cannot be compared, DataError for a text that is too small, before anything is trained.
Layout lay_out(const ResolvedConfig& config, Index tokens, Index vocabulary, const Share& share = {});

/// The blocks of a text of that many tokens, the same for all variants: long enough for the longest length of
/// any of them. Throws ConfigError, DataError.
Splits comparison_splits(const ResolvedConfig& config, Index tokens);

}  // namespace tapeline
