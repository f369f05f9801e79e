#include "train/signals.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "core/parallel.h"
#include "tests/support/stop_signal.h"

namespace tapeline {
namespace {

TEST_CASE("signals: the first one only sets a flag, work without anything to save stops by it") {
  const SignalGuard guard;
  CHECK(pending_signal() == 0);
  stop_if_signalled();
  test::send_stop_signal(SIGTERM);
  CHECK(pending_signal() == SIGTERM);
  CHECK_THROWS_AS(stop_if_signalled(), Stopped);
  clear_signal();
  stop_if_signalled();
}

TEST_CASE("signals: no thread that computes takes one") {
  // oneDNN's products run with the stack register in the heap: the frame of a handler would overwrite data.
  const auto is_open = [] {
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    return sigismember(&mask, SIGINT) == 0 || sigismember(&mask, SIGTERM) == 0 ||
           sigismember(&mask, SIGHUP) == 0;
  };
  REQUIRE(is_open());
  {
    const SignalGuard guard;
    const SignalGuard nested;
    std::atomic<int> open = 0, seen = 0;
    const auto look = [&](Index, Index) {
      ++seen;
      if (is_open()) ++open;
    };
    parallel_for(thread_count(), 1, look);
    // Workers that are made only now have nobody's mask but ours.
    const int before = thread_count();
    set_thread_count(before + 3);
    parallel_for(before + 3, 1, look);
    set_thread_count(before);
    CHECK(seen == 2 * before + 3);
    CHECK(open == 0);
  }
  CHECK(is_open());
}

#if !defined(__SANITIZE_THREAD__)  // it cannot follow threads that are started behind a fork
// In a process of its own: a second signal ends it, and one that is ignored must be let alone.
int exit_code_of(void (*body)()) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_CASE("signals: a second one leaves at once; one that was ignored before stays so") {
  set_thread_count(1);  // the pool's threads do not live on behind a fork
  CHECK(exit_code_of([] {
          const SignalGuard guard;
          test::send_stop_signal(SIGINT);
          // At once it is the same wish, sent to the program and to its process group; later it is another
          // one.
          kill(getpid(), SIGINT);
          for (;;) {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
            kill(getpid(), SIGTERM);
          }
        }) == 128 + SIGTERM);
  CHECK(exit_code_of([] {
          const SignalGuard guard;
          test::send_stop_signal(SIGINT);
          kill(getpid(), SIGINT);
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
          if (pending_signal() != SIGINT) _exit(1);
        }) == 0);
  CHECK(exit_code_of([] {
          signal(SIGHUP, SIG_IGN);
          const SignalGuard guard;
          kill(getpid(), SIGHUP);
          test::send_stop_signal(SIGTERM);
          if (pending_signal() != SIGTERM) _exit(1);
        }) == 0);
  CHECK(exit_code_of([] {
          for (const int one : {SIGHUP, SIGINT, SIGTERM}) signal(one, SIG_IGN);
          const SignalGuard guard;
          kill(getpid(), SIGTERM);
          if (pending_signal() != 0) _exit(1);
        }) == 0);
}

TEST_CASE("signals: work that may be left ends the program in the middle, with its last words") {
  set_thread_count(1);
  CHECK(exit_code_of([] {
          const SignalGuard guard;
          const LeaveAtOnce leave([] {
            if (pending_signal() != SIGTERM) _exit(1);
          });
          kill(getpid(), SIGTERM);
          std::this_thread::sleep_for(std::chrono::seconds(20));
        }) == 3);
  // Past that work a signal waits until somebody asks for it; before it, it does not begin.
  CHECK(exit_code_of([] {
          const SignalGuard guard;
          {
            const LeaveAtOnce leave([] { _exit(1); });
          }
          test::send_stop_signal(SIGTERM);
          try {
            const LeaveAtOnce leave([] { _exit(1); });
            _exit(2);
          } catch (const Stopped&) {
          }
        }) == 0);
}
#endif

}  // namespace
}  // namespace tapeline
