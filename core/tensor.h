#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "core/real.h"
#include "core/shape.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// A contiguous row-major view of numbers that someone else owns: a Storage, an arena, a parameter store.
/// There are no strides: a transpose is a flag of the product, a split into heads is an op.
struct Tensor {
  Shape shape;
  Real* data = nullptr;

  Index size() const { return shape.size(); }
  /// The same numbers under another shape of equal size. Throws ShapeError.
  Tensor reshaped(const Shape& to) const;
};

/// Owns the numbers of one tensor that outlives a step; aligned to 64 bytes, zeroed.
class Storage {
 public:
  Storage() = default;
  /// Throws MemoryError that names `purpose` when there is no memory left.
  explicit Storage(const Shape& shape, std::string_view purpose = "a tensor");
  /// Not zeroed, to be written before it is read; pages never written cost nothing. Throws MemoryError.
  static Storage unwritten(const Shape& shape, std::string_view purpose);

  Tensor tensor() const { return {shape_, data_.get()}; }
  const Shape& shape() const { return shape_; }
  Real* data() const { return data_.get(); }

 private:
  void take(const Shape& shape, std::string_view purpose);
  struct Free {
    void operator()(Real* memory) const;
  };
  Shape shape_;
  std::unique_ptr<Real[], Free> data_;
};

}  // namespace tapeline::inline TAPELINE_PRECISION
