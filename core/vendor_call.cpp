#include "core/vendor_call.h"

#include <atomic>

#include "core/parallel.h"

namespace tapeline {

namespace {

std::atomic<int> calls_of_all_threads{0};
// Initialised at compile time: reading it never allocates.
constinit thread_local int calls_of_this_thread = 0;

}  // namespace

VendorCall::VendorCall() noexcept : all_threads_(!in_parallel_region()) {
  if (all_threads_) {
    calls_of_all_threads.fetch_add(1, std::memory_order_relaxed);
  } else {
    ++calls_of_this_thread;
  }
}

VendorCall::~VendorCall() {
  if (all_threads_) {
    calls_of_all_threads.fetch_sub(1, std::memory_order_relaxed);
  } else {
    --calls_of_this_thread;
  }
}

bool VendorCall::active() noexcept {
  return calls_of_this_thread > 0 || calls_of_all_threads.load(std::memory_order_relaxed) > 0;
}

}  // namespace tapeline
