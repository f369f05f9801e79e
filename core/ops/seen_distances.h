#pragma once

#include <algorithm>

#include "core/kernels/attention.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// Distances of query and key positions, both ends included.
struct DistanceRange {
  Index shortest, longest;
};

/// The distances between the rows that see each other, of positions that run on without gaps: rows run from
/// one end of the band that is seen to the other, and positions are rows plus a constant.
inline DistanceRange seen_distances(const AttentionProblem& problem) {
  const KeyMask& mask = problem.mask;
  const PassPositions& positions = problem.positions;
  const Index shift = positions.query.begin - positions.key.begin - problem.first_distance();
  const Index longest =
      mask.window == 0 || mask.sinks > 0 ? problem.key_rows - 1 : std::min(mask.window, problem.key_rows) - 1;
  return {(mask.causal ? 0 : 1 - problem.query_rows) + shift, longest + shift};
}

}  // namespace tapeline::inline TAPELINE_PRECISION
