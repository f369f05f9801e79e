#include "core/fresh_memory.h"

#include <atomic>
#include <cstring>

namespace tapeline {
namespace {

#if !defined(NDEBUG) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
std::atomic<bool> filled{true};
#else
std::atomic<bool> filled{false};
#endif

}  // namespace

void fill_fresh_memory(bool on) { filled.store(on, std::memory_order_relaxed); }

void mark_fresh_memory(void* memory, std::size_t bytes) {
  if (filled.load(std::memory_order_relaxed)) std::memset(memory, 0xFF, bytes);
}

}  // namespace tapeline
