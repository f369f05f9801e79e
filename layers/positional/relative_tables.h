#pragma once

#include <span>

#include "layers/pass.h"
#include "layers/positional/distances.h"

/// What the encodings with a vector for every distance (shaw, transformer_xl, xlnet, deberta) share.
namespace tapeline::inline TAPELINE_PRECISION {

/// The distances that a table for a pass holds: all that its pairs have (distances_of) and all between them
/// and 0. Without a tape they are rounded up to a power of two, so that a table by distance is made again a
/// few times while a text grows. Throws ShapeError for distances of 2^31 or more.
Distances table_distances(const Pass& pass, const PassPositions& all, bool causal);

/// row(distance) for each of the distances, in the arena of the pass.
template <class Row>
std::span<const Index> distance_index(Pass& pass, const Distances& distances, const Row& row) {
  const auto count = static_cast<std::size_t>(distances.count);
  Index* const index = pass.tape.arena().allocate_array<Index>(count);
  for (std::size_t n = 0; n < count; ++n) index[n] = row(distances.first + static_cast<Index>(n));
  return {index, count};
}

}  // namespace tapeline::inline TAPELINE_PRECISION
