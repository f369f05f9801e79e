#include "core/shape.h"

#include <fmt/ranges.h>

#include <span>

#include "core/error.h"

namespace tapeline {

namespace {

/// So many numbers of eight bytes can still be addressed.
constexpr Index largest_size = Index{1} << 59;

}  // namespace

Shape::Shape(std::initializer_list<Index> extents) {
  require<ShapeError>(extents.size() <= max_rank, "shape [{}] has {} extents; at most {} are supported",
                      fmt::join(extents, ", "), extents.size(), max_rank);
  for (const Index extent : extents) {
    require<ShapeError>(extent >= 0, "shape [{}] has a negative extent", fmt::join(extents, ", "));
    extents_[static_cast<std::size_t>(rank_++)] = extent;
  }
  // Zero extents are left out: the products of any of the others are taken too (rows).
  Index product = 1;
  for (const Index extent : extents) {
    if (extent == 0) continue;
    require<ShapeError>(extent <= largest_size / product, "shape [{}] has more elements than can be counted",
                        fmt::join(extents, ", "));
    product *= extent;
  }
}

Index Shape::operator[](int axis) const {
  const int from_front = axis < 0 ? axis + rank_ : axis;
  if (from_front < 0 || from_front >= rank_) [[unlikely]] {  // every op asks often: no text for nothing
    fail<ShapeError>("axis {} of shape {} does not exist; it has {} axes", axis, text(), rank_);
  }
  return extents_[static_cast<std::size_t>(from_front)];
}

Index Shape::size() const {
  Index product = 1;
  for (int axis = 0; axis < rank_; ++axis) product *= extents_[static_cast<std::size_t>(axis)];
  return product;
}

Index Shape::rows() const {
  Index product = 1;
  for (int axis = 0; axis + 1 < rank_; ++axis) product *= extents_[static_cast<std::size_t>(axis)];
  return product;
}

Shape Shape::with_last(Index extent) const {
  require<ShapeError>(rank_ > 0, "a scalar has no last extent to replace");
  Shape result = *this;
  result.extents_[static_cast<std::size_t>(rank_ - 1)] = extent;
  return result;
}

std::string Shape::text() const {
  return fmt::format("[{}]", fmt::join(std::span(extents_.data(), static_cast<std::size_t>(rank_)), ", "));
}

}  // namespace tapeline
