#include "core/parallel.h"

#include <atomic>

#include "core/denormals.h"
#include "core/error.h"
#include "core/parallel_backend.h"

namespace tapeline {
namespace {

std::atomic<int> chosen_count{0};
thread_local bool denormals_flushed = false;

void flush_denormals_once() {
  if (denormals_flushed) return;
  threads::flush_denormals();
  denormals_flushed = true;
}

}  // namespace

int thread_count() {
  flush_denormals_once();
  const int count = chosen_count.load(std::memory_order_relaxed);
  if (count > 0) return count;
  const int found = threads::backend_thread_count();
  chosen_count.store(found, std::memory_order_relaxed);
  return found;
}

void set_thread_count(int count) {
  require<ConfigError>(count >= 1, "threads: {} was asked for; at least 1 is needed", count);
  flush_denormals_once();
  threads::backend_set_thread_count(count);
  chosen_count.store(count, std::memory_order_relaxed);
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
