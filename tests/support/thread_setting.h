#pragma once

#include "core/parallel.h"

namespace tapeline {

/// Sets the thread count for the length of a scope.
class ThreadSetting {
 public:
  explicit ThreadSetting(int count) : ThreadSetting() { set_thread_count(count); }
  /// Only puts back at the end what stood before.
  ThreadSetting() : before_(thread_count()) {}
  ~ThreadSetting() { set_thread_count(before_); }
  ThreadSetting(const ThreadSetting&) = delete;
  ThreadSetting& operator=(const ThreadSetting&) = delete;

 private:
  int before_;
};

}  // namespace tapeline
