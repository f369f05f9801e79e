#include "core/tensor.h"

#include <algorithm>
#include <new>

#include "core/error.h"

namespace tapeline::inline TAPELINE_PRECISION {
namespace {
constexpr std::align_val_t storage_alignment{64};
}

Tensor Tensor::reshaped(const Shape& to) const {
  require<ShapeError>(to.size() == size(), "reshape: {} has {} elements, {} has {}; the sizes must be equal",
                      shape.text(), size(), to.text(), to.size());
  return {to, data};
}

Storage::Storage(const Shape& shape) : shape_(shape) {
  const auto count = static_cast<std::size_t>(shape.size());
  data_.reset(
      static_cast<Real*>(::operator new(std::max<std::size_t>(count, 1) * sizeof(Real), storage_alignment)));
  std::fill_n(data_.get(), count, Real{0});
}

void Storage::Free::operator()(Real* memory) const { ::operator delete(memory, storage_alignment); }

}  // namespace tapeline::inline TAPELINE_PRECISION
