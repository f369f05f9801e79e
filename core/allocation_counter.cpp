#include "core/allocation_counter.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>

#include "core/vendor_call.h"

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define TAPELINE_COUNTS_ALLOCATIONS 1
#else
#define TAPELINE_COUNTS_ALLOCATIONS 0
#endif

namespace {

std::atomic<bool> counting{false};
std::atomic<std::uint64_t> own_requests{0};
std::atomic<std::uint64_t> vendor_requests{0};

#if TAPELINE_COUNTS_ALLOCATIONS
void count_request() noexcept {
  if (!counting.load(std::memory_order_relaxed)) return;
  auto& requests = tapeline::VendorCall::active() ? vendor_requests : own_requests;
  requests.fetch_add(1, std::memory_order_relaxed);
}
#endif

}  // namespace

#if TAPELINE_COUNTS_ALLOCATIONS
// A definition in the program takes the place of the C library's for every library in the process; the work
// is still the C library's, so its free() serves.
extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* memory, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);

void* malloc(std::size_t bytes) noexcept {
  count_request();
  return __libc_malloc(bytes);
}

void* calloc(std::size_t count, std::size_t bytes) noexcept {
  count_request();
  return __libc_calloc(count, bytes);
}

void* realloc(void* memory, std::size_t bytes) noexcept {
  count_request();
  return __libc_realloc(memory, bytes);
}

void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
  count_request();
  return __libc_memalign(alignment, bytes);
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  count_request();
  return __libc_memalign(alignment, bytes);
}

int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) noexcept {
  if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) return EINVAL;
  count_request();
  void* const taken = __libc_memalign(alignment, bytes);
  if (taken == nullptr) return ENOMEM;
  *memory = taken;
  return 0;
}
}
#endif

namespace tapeline {

AllocationCounter::AllocationCounter() {
  own_requests = 0;
  vendor_requests = 0;
  counting = true;
}

AllocationCounter::~AllocationCounter() { counting = false; }

AllocationCounts AllocationCounter::counts() const { return {own_requests, vendor_requests}; }

bool AllocationCounter::available() { return TAPELINE_COUNTS_ALLOCATIONS != 0; }

}  // namespace tapeline
