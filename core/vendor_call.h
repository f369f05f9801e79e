#pragma once

namespace tapeline {

/// Stands around a call into a vendor library, so that what the library takes from the heap is counted apart
/// from what we take (AllocationCounter). Outside a parallel region it holds for all threads, because the
/// library's own workers run then; inside one, for the calling thread.
class VendorCall {
 public:
  VendorCall() noexcept;
  ~VendorCall();
  VendorCall(const VendorCall&) = delete;
  VendorCall& operator=(const VendorCall&) = delete;

  /// Whether the calling thread is inside such a call. Safe to ask from within an allocator.
  static bool active() noexcept;

 private:
  bool all_threads_;
};

}  // namespace tapeline
