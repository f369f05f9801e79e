#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/index.h"

namespace tapeline {

/// Places along one axis: `count` of them from `begin` on, `step` apart.
struct SlabAxis {
  Index begin = 0, count = 0, step = 1;
  Index last() const { return begin + (count - 1) * step; }
  friend bool operator==(const SlabAxis&, const SlabAxis&) = default;
};

/// A regular part of a dataset, one SlabAxis for each of its axes; none for a scalar.
struct Slab {
  std::vector<SlabAxis> axes;

  /// All of a dataset.
  static Slab whole(const std::vector<Index>& extents);
  Index size() const;  ///< how many numbers
  /// Whether every place exists in a dataset of these extents.
  bool fits(const std::vector<Index>& extents) const;
  /// "[0:4, 10:20:2]"
  std::string text() const;
};

/// Cuts `whole`, in its order, into parts of at most `largest` numbers each (and few of them much smaller),
/// and calls `visit` with each: a dataset of any size is read with little memory.
void for_each_piece(const Slab& whole, Index largest, const std::function<void(const Slab& piece)>& visit);

}  // namespace tapeline
