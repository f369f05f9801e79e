#include <doctest/doctest.h>

#include <atomic>
#include <limits>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "tests/support/thread_setting.h"

using namespace tapeline;

TEST_CASE("parallel: every item is visited once, whatever count, grain and threads") {
  for (const int threads : {1, 2, 3, 4}) {
    const ThreadSetting chosen(threads);
    CHECK(thread_count() == threads);
    for (const Index count : {0, 1, 2, 5, 64, 1001}) {
      for (const Index grain : {0, 1, 7, 5000}) {
        std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
        const int workers = parallel_shares(count, grain, [&](int worker, Index begin, Index end) {
          CHECK(worker >= 0);
          CHECK(worker < threads);
          for (Index i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
        });
        CHECK(workers <= threads);
        CHECK((workers == 0) == (count == 0));
        for (const auto& visit : visits) CHECK(visit == 1);
      }
    }
  }
}

TEST_CASE(
    "parallel: the shares run on threads of their own, and an inner region on the thread it is called from") {
  const ThreadSetting chosen(3);
  std::mutex mutex;
  std::set<std::thread::id> threads;
  CHECK_FALSE(in_parallel_region());
  parallel_for(3, 1, [&](Index, Index) {
    CHECK(in_parallel_region());
    const auto outer = std::this_thread::get_id();
    parallel_for(100, 1, [&](Index begin, Index end) {
      CHECK(end - begin == 100);
      CHECK(std::this_thread::get_id() == outer);
    });
    const std::lock_guard lock(mutex);
    threads.insert(outer);
  });
  CHECK(threads.size() == 3);
  CHECK_FALSE(in_parallel_region());
}

TEST_CASE("parallel: an exception of a worker arrives at the caller, and the pool goes on working") {
  const ThreadSetting chosen(2);
  for (int repeat = 0; repeat < 3; ++repeat) {
    CHECK_THROWS_WITH_AS(parallel_shares(2, 1,
                                         [](int worker, Index, Index) {
                                           if (worker == 1) throw std::runtime_error("from worker 1");
                                         }),
                         "from worker 1", std::runtime_error);
  }
  std::atomic<Index> total{0};
  parallel_for(10, 1, [&](Index begin, Index end) { total += end - begin; });
  CHECK(total == 10);
}

TEST_CASE("parallel: fewer than one thread is refused, and more than are ever used") {
  const ThreadSetting as_before;
  CHECK_THROWS_AS(set_thread_count(0), ConfigError);
  CHECK_THROWS_AS(set_thread_count(-2), ConfigError);
  CHECK_THROWS_AS(set_thread_count(most_threads + 1), ConfigError);
}

TEST_CASE("parallel: a thread that the runtime does not know has as many workers as all others") {
  const ThreadSetting chosen(3);
  std::set<std::thread::id> threads;
  std::thread([&] {
    std::mutex mutex;
    parallel_for(3, 1, [&](Index, Index) {
      const std::lock_guard lock(mutex);
      threads.insert(std::this_thread::get_id());
    });
  }).join();
  CHECK(threads.size() == 3);
}

#if defined(__SSE2__)
TEST_CASE("parallel: denormal numbers are zero in every worker") {
  const ThreadSetting chosen(3);
  std::atomic<int> flushed{0};
  parallel_for(3, 1, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      volatile float small = std::numeric_limits<float>::min();
      volatile float result = small * 0.25f;
      flushed += result == 0 ? 1 : 0;
    }
  });
  CHECK(flushed == 3);
}
#endif
