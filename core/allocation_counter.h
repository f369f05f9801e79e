#pragma once

#include <cstdint>

namespace tapeline {

/// Requests to the heap (malloc, calloc, realloc, aligned ones; `operator new` comes through malloc).
struct AllocationCounts {
  std::uint64_t own = 0;
  std::uint64_t vendor = 0;  ///< inside a VendorCall
};

/// Counts the heap requests of all threads between its beginning and its end. Only programs that link
/// tapeline_allocation_counter can count; one at a time.
class AllocationCounter {
 public:
  AllocationCounter();
  ~AllocationCounter();
  AllocationCounter(const AllocationCounter&) = delete;
  AllocationCounter& operator=(const AllocationCounter&) = delete;

  /// Since the beginning.
  AllocationCounts counts() const;
  /// False where malloc belongs to someone else: sanitizers, a C library other than glibc.
  static bool available();
};

}  // namespace tapeline
