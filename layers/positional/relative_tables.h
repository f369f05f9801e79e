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

/// row(distance) for each of the distances, made once a pass for `owner`, which has no other index.
template <class Row>
std::span<const Index> distance_index(Pass& pass, const void* owner, const Distances& distances,
                                      const Row& row) {
  return pass.once(owner, distances.slot(), [&] {
    const std::span<Index> index = pass.indices(distances.count);
    Index distance = distances.first;
    for (Index& at : index) at = row(distance++);
    return std::span<const Index>(index);
  });
}

}  // namespace tapeline::inline TAPELINE_PRECISION
