#include "core/tensor.h"

#include <algorithm>
#include <cstdlib>

#include "core/error.h"
#include "core/fresh_memory.h"
#include "core/memory.h"

namespace tapeline::inline TAPELINE_PRECISION {
Tensor Tensor::reshaped(const Shape& to) const {
  if (to.size() != size()) [[unlikely]] {
    fail<ShapeError>("reshape: {} has {} elements, {} has {}; the sizes must be equal", shape.text(), size(),
                     to.text(), to.size());
  }
  return {to, data};
}

Storage::Storage(const Shape& shape, std::string_view purpose) {
  take(shape, purpose);
  std::fill_n(data_.get(), static_cast<std::size_t>(shape.size()), Real{0});
}

Storage Storage::unwritten(const Shape& shape, std::string_view purpose) {
  Storage storage;
  storage.take(shape, purpose);
  mark_fresh_memory(storage.data(), static_cast<std::size_t>(shape.size()) * sizeof(Real));
  return storage;
}

void Storage::take(const Shape& shape, std::string_view purpose) {
  shape_ = shape;
  const auto count = static_cast<std::size_t>(shape.size());
  const std::size_t bytes = std::max<std::size_t>(count, 1) * sizeof(Real);
  data_.reset(static_cast<Real*>(allocate_memory(bytes)));
  if (data_ == nullptr) fail_memory(fmt::format("{} of {} numbers", purpose, count), bytes);
}

void Storage::Free::operator()(Real* memory) const { std::free(memory); }

}  // namespace tapeline::inline TAPELINE_PRECISION
