#pragma once

#include <type_traits>

#include "core/index.h"

namespace tapeline {

/// More threads than this are never used.
inline constexpr int most_threads = 1024;

/// How many threads a parallel region uses, this one included: what was set, else OMP_NUM_THREADS, else all
/// cores, and never more than the runtime grants (OMP_THREAD_LIMIT). The one pool is OpenMP's, shared with
/// the BLAS and oneDNN; builds for the thread sanitizer use a second back end on std::thread
/// (TAPELINE_STD_THREADS). The first use on a thread makes that thread, and every worker, treat denormal
/// numbers as zero, and tells OpenMP the count for the regions of that thread.
int thread_count();
/// Sets it, also for the vendor libraries; at least 1. Throws ConfigError below 1, above most_threads and
/// above what the runtime grants.
void set_thread_count(int count);
/// True inside a parallel region; regions do not nest, an inner one runs on the calling thread.
bool in_parallel_region();

namespace threads {
using WorkerFunction = void (*)(void* context, int worker);
/// Calls `function(context, w)` for w = 0 .. workers-1, each on a thread of its own, and waits. The first
/// exception thrown, in the order of the workers, is thrown again here.
void run_workers(int workers, WorkerFunction function, void* context);
}  // namespace threads

/// Cuts [0, count) into contiguous shares of nearly equal size, one for every `grain` items or part of them
/// and at most thread_count(), and calls `body(worker, begin, end)` for each share at the same time. The cut
/// depends on count, grain and the thread count only: sums made per worker and added in worker order repeat
/// bit for bit. Returns the number of workers that ran.
template <class Body>
int parallel_shares(Index count, Index grain, Body&& body) {
  if (count <= 0) return 0;
  if (grain < 1) grain = 1;
  Index workers = in_parallel_region() ? 1 : (count + grain - 1) / grain;
  if (workers > thread_count()) workers = thread_count();
  if (workers <= 1) {
    body(0, Index{0}, count);
    return 1;
  }
  struct Context {
    std::remove_reference_t<Body>* body;
    Index count, workers;
  } context{&body, count, workers};
  threads::run_workers(
      static_cast<int>(workers),
      [](void* raw, int worker) {
        const Context& c = *static_cast<Context*>(raw);
        (*c.body)(worker, c.count * worker / c.workers, c.count * (worker + 1) / c.workers);
      },
      &context);
  return static_cast<int>(workers);
}

/// parallel_shares without the worker number: `body(begin, end)`.
template <class Body>
void parallel_for(Index count, Index grain, Body&& body) {
  parallel_shares(count, grain, [&body](int, Index begin, Index end) { body(begin, end); });
}

}  // namespace tapeline
