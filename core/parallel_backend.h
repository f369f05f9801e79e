#pragma once

#include <exception>
#include <mutex>

#include "core/parallel.h"

/// What the two back ends of core/parallel share. A build has one of them.
namespace tapeline::threads {

/// The exception of the first worker that threw one, to be thrown again on the thread that waits for them.
/// The first by number and not by time: a failure has the same message every time.
class FirstException {
 public:
  void keep(int worker) noexcept;  ///< the exception being handled
  void rethrow();

 private:
  std::mutex mutex_;
  std::exception_ptr exception_;
  int worker_ = 0;  // whose it is
};

/// Marks the calling thread as being inside a parallel region.
class InRegion {
 public:
  InRegion();
  ~InRegion();
  InRegion(const InRegion&) = delete;
  InRegion& operator=(const InRegion&) = delete;
  static bool here();

 private:
  bool outer_;
};

/// One worker's part on the calling thread.
void run_one(int worker, WorkerFunction function, void* context, FirstException& failure) noexcept;

/// How many threads a region can get at most (OMP_THREAD_LIMIT).
int backend_most_threads();
/// How many were asked for from outside (OMP_NUM_THREADS), or how many cores there are.
int backend_thread_count();
/// Tells the runtime of the calling thread that its regions have this many.
void backend_set_thread_count(int count);

}  // namespace tapeline::threads
