#include "core/parallel.h"

#include <algorithm>
#include <atomic>

#include "core/denormals.h"
#include "core/error.h"
#include "core/parallel_backend.h"

namespace tapeline {
namespace {

std::atomic<int> chosen_count{0};
thread_local bool denormals_flushed = false;
thread_local int told_count = 0;  // what this thread's runtime was told last

void flush_denormals_once() {
  if (denormals_flushed) return;
  threads::flush_denormals();
  denormals_flushed = true;
}

int granted_threads() { return std::min(most_threads, threads::backend_most_threads()); }

// The runtime keeps a count for each thread that starts regions.
void tell_runtime(int count) {
  if (told_count == count || in_parallel_region()) return;
  threads::backend_set_thread_count(count);
  told_count = count;
}

}  // namespace

int thread_count() {
  flush_denormals_once();
  int count = chosen_count.load(std::memory_order_relaxed);
  if (count == 0) {
    count = std::min(threads::backend_thread_count(), granted_threads());
    chosen_count.store(count, std::memory_order_relaxed);
  }
  tell_runtime(count);
  return count;
}

void set_thread_count(int count) {
  require<ConfigError>(count >= 1, "threads: {} was asked for; at least 1 is needed", count);
  require<ConfigError>(count <= most_threads, "threads: {} were asked for; at most {} are used", count,
                       most_threads);
  require<ConfigError>(
      count <= granted_threads(),
      "threads: {} were asked for, and OMP_THREAD_LIMIT grants {}; ask for fewer, or unset it", count,
      granted_threads());
  flush_denormals_once();
  chosen_count.store(count, std::memory_order_relaxed);
  tell_runtime(count);
}

namespace threads {

void FirstException::keep(int worker) noexcept {
  const std::lock_guard lock(mutex_);
  if (exception_ && worker_ < worker) return;
  exception_ = std::current_exception();
  worker_ = worker;
}

void FirstException::rethrow() {
  if (exception_) std::rethrow_exception(exception_);
}

void run_one(int worker, WorkerFunction function, void* context, FirstException& failure) noexcept {
  flush_denormals_once();
  const InRegion inside;
  try {
    function(context, worker);
  } catch (...) {
    failure.keep(worker);
  }
}

namespace {
thread_local bool inside_region = false;
}

InRegion::InRegion() : outer_(inside_region) { inside_region = true; }
InRegion::~InRegion() { inside_region = outer_; }
bool InRegion::here() { return inside_region; }

}  // namespace threads
}  // namespace tapeline
