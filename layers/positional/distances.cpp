#include "layers/positional/distances.h"

#include <algorithm>

#include "core/error.h"

namespace tapeline {

namespace {

/// Where positions ascend, the nearest key that a query sees is that of its own row.
Index nearest(const PassPositions& all) {
  const Index own_row = all.key.count - all.query.count;
  Index smallest = all.query.at(0) - all.key.at(own_row);
  if (all.query.axis[0].empty() && all.key.axis[0].empty()) return smallest;
  for (Index row = 1; row < all.query.count; ++row) {
    smallest = std::min(smallest, all.query.at(row) - all.key.at(own_row + row));
  }
  return smallest;
}

}  // namespace

Distances distances_of(const PassPositions& all, bool causal) {
  if (all.query.count < 1 || all.key.count < all.query.count) return {};  // attention() says what is wrong
  const PositionRange query = range_of(all.query), key = range_of(all.key);
  const Index last = query.highest - key.lowest;
  const Index first = causal && query.ascending && key.ascending ? nearest(all) : query.lowest - key.highest;
  constexpr Index limit = Index{1} << 31;
  require<ShapeError>(last - first < limit && first > -limit && last < limit,
                      "positions: distances {} to {}; an encoding by distance serves fewer than {}", first,
                      last, limit);
  return {.first = first, .count = last - first + 1};
}

}  // namespace tapeline
