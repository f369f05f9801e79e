#pragma once

#include <algorithm>
#include <optional>

#include "core/kernels/attention.h"
#include "core/parallel.h"

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

/// Whether queries or keys have positions of their own, which may leave gaps.
inline bool has_explicit_positions(const PassPositions& positions) {
  return !positions.query.axis[0].empty() || !positions.key.axis[0].empty();
}

/// A distance of the pass outside `held`, where the sizes show it; with explicit positions none: then the
/// kernel asks pair by pair.
inline std::optional<Index> missing_distance(const AttentionProblem& problem, const DistanceRange& held) {
  if (has_explicit_positions(problem.positions) || problem.query_rows == 0) return std::nullopt;
  const DistanceRange seen = seen_distances(problem);
  if (seen.shortest < held.shortest) return seen.shortest;
  if (seen.longest > held.longest) return seen.longest;
  return std::nullopt;
}

/// One that the kernel has met outside a table. faults [workers]; null: none.
inline std::optional<Index> faulty_distance(const DistanceFault* faults) {
  for (Index worker = 0; faults != nullptr && worker < thread_count(); ++worker) {
    if (faults[worker].found) return faults[worker].distance;
  }
  return std::nullopt;
}

}  // namespace tapeline::inline TAPELINE_PRECISION
