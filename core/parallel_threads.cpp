#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "core/available_cores.h"
#include "core/parallel_backend.h"

namespace tapeline {

bool in_parallel_region() { return threads::InRegion::here(); }

int available_cores() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

namespace threads {
namespace {

/// Threads that wait for work, kept until the program ends.
class Pool {
 public:
  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    start_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  void run(int workers, WorkerFunction function, void* context) {
    const std::lock_guard one_region_at_a_time(callers_);
    FirstException failure;
    {
      const std::lock_guard lock(mutex_);
      work_ = {workers, function, context, &failure};
      ++region_;
      busy_ = workers - 1;
      while (static_cast<int>(threads_.size()) < workers - 1) {
        threads_.emplace_back(&Pool::serve, this, static_cast<int>(threads_.size()) + 1, region_ - 1);
      }
    }
    start_.notify_all();
    run_one(0, function, context, failure);
    {
      std::unique_lock lock(mutex_);
      done_.wait(lock, [this] { return busy_ == 0; });
    }
    failure.rethrow();
  }

 private:
  struct Work {
    int workers = 0;
    WorkerFunction function = nullptr;
    void* context = nullptr;
    FirstException* failure = nullptr;
  };

  void serve(int worker, long seen) {
    std::unique_lock lock(mutex_);
    for (;;) {
      start_.wait(lock, [&] { return ending_ || region_ != seen; });
      if (ending_) return;
      seen = region_;
      const Work work = work_;
      if (worker >= work.workers) continue;
      lock.unlock();
      run_one(worker, work.function, work.context, *work.failure);
      lock.lock();
      if (--busy_ == 0) done_.notify_one();
    }
  }

  std::mutex callers_;
  std::mutex mutex_;
  std::condition_variable start_, done_;
  std::vector<std::thread> threads_;
  Work work_;
  long region_ = 0;
  int busy_ = 0;
  bool ending_ = false;
};

}  // namespace

int backend_most_threads() { return most_threads; }

int backend_thread_count() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

void backend_set_thread_count(int) {}

void run_workers(int workers, WorkerFunction function, void* context) {
  static Pool pool;
  pool.run(workers, function, context);
}

}  // namespace threads
}  // namespace tapeline
