#pragma once

#include <array>
#include <initializer_list>
#include <string>

#include "core/index.h"

namespace tapeline {

/// The extents of a contiguous row-major tensor: none (a scalar) to four of them, each >= 0.
class Shape {
 public:
  static constexpr int max_rank = 4;

  Shape() = default;
  /// Throws ShapeError for more than four extents, a negative one, or more than 2^59 elements.
  Shape(std::initializer_list<Index> extents);

  int rank() const { return rank_; }
  /// Extent number `axis`; negative counts from the last. Throws ShapeError outside the rank.
  Index operator[](int axis) const;
  /// The last extent; 1 for a scalar.
  Index last() const { return rank_ == 0 ? 1 : extents_[static_cast<std::size_t>(rank_ - 1)]; }
  /// The product of all extents; 1 for a scalar.
  Index size() const;
  /// The product of all extents but the last: how many rows of length last() there are.
  Index rows() const;
  /// The same extents with the last one replaced.
  Shape with_last(Index extent) const;
  /// "[2, 4, 16]"; "[]" for a scalar.
  std::string text() const;

  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  std::array<Index, max_rank> extents_{};
  int rank_ = 0;
};

}  // namespace tapeline
