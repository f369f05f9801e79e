#include "core/tensor.h"

#include <algorithm>
#include <new>

#include "core/error.h"
#include "core/memory.h"

namespace tapeline::inline TAPELINE_PRECISION {
namespace {
constexpr std::align_val_t storage_alignment{64};
}

Tensor Tensor::reshaped(const Shape& to) const {
  require<ShapeError>(to.size() == size(), "reshape: {} has {} elements, {} has {}; the sizes must be equal",
                      shape.text(), size(), to.text(), to.size());
  return {to, data};
}

Storage::Storage(const Shape& shape, std::string_view purpose) : shape_(shape) {
  const auto count = static_cast<std::size_t>(shape.size());
  const std::size_t bytes = std::max<std::size_t>(count, 1) * sizeof(Real);
  data_.reset(static_cast<Real*>(::operator new(bytes, storage_alignment, std::nothrow)));
  if (data_ == nullptr) fail_memory(fmt::format("{} of {} numbers", purpose, count), bytes);
  std::fill_n(data_.get(), count, Real{0});
}

void Storage::Free::operator()(Real* memory) const { ::operator delete(memory, storage_alignment); }

}  // namespace tapeline::inline TAPELINE_PRECISION
