#include "core/gradient_pool.h"

#include <algorithm>
#include <cstdlib>

#include "core/fresh_memory.h"
#include "core/memory.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

std::size_t bytes_of(Index count) { return static_cast<std::size_t>(count) * sizeof(Real); }

// Memory in a free list belongs to nobody: the address sanitizer reports who still uses it.
#if defined(__SANITIZE_ADDRESS__)
void poison(const Real* memory, Index count) { __asan_poison_memory_region(memory, bytes_of(count)); }
void unpoison(const Real* memory, Index count) { __asan_unpoison_memory_region(memory, bytes_of(count)); }
#else
void poison(const Real*, Index) {}
void unpoison(const Real*, Index) {}
#endif

}  // namespace

GradientPool::~GradientPool() {
  for (const auto& [count, free] : free_) {
    for (const Real* memory : free) unpoison(memory, count);
  }
  for (Real* memory : owned_) std::free(memory);
}

Real* GradientPool::take(Index count) {
  std::vector<Real*>& free = free_[count];
  const std::size_t bytes = bytes_of(count);
  Real* memory = nullptr;
  if (free.empty()) {
    // Room in both lists first, so that giving back never allocates and a failure here leaks nothing.
    owned_.reserve(owned_.size() + 1);
    free.reserve(std::max(free.capacity(), owned_.size() + 1));
    memory = static_cast<Real*>(allocate_memory(bytes));
    if (memory == nullptr) fail_memory("the gradients of the activations", bytes);
    owned_.push_back(memory);
  } else {
    memory = free.back();
    free.pop_back();
    unpoison(memory, count);
  }
  mark_fresh_memory(memory, bytes);
  used_bytes_ += bytes;
  peak_bytes_ = std::max(peak_bytes_, used_bytes_);
  return memory;
}

void GradientPool::give_back(Real* memory, Index count) {
  poison(memory, count);
  free_[count].push_back(memory);
  used_bytes_ -= bytes_of(count);
}

}  // namespace tapeline::inline TAPELINE_PRECISION
