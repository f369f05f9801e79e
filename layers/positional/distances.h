#pragma once

#include "core/positions.h"

namespace tapeline {

/// The distances of a pass: position of the query - position of the key, from the smallest on.
struct Distances {
  Index first = 0;  ///< negative where a key stands after its query
  Index count = 1;

  Index last() const { return first + count - 1; }
  /// Tells these distances from others: the slot of Pass::once for tables by distance.
  Index slot() const { return first * (Index{1} << 32) + count; }
  bool operator==(const Distances&) const = default;
};

/// The smallest range that holds the distances of all pairs that see each other, by the positions of their
/// rows, the last rows aligned; a causal mask leaves out the key rows after a query's own. Throws ShapeError
/// for a range of 2^31 or more.
Distances distances_of(const PassPositions& all, bool causal);

}  // namespace tapeline
