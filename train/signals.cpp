#include "train/signals.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "core/parallel.h"

namespace tapeline {

namespace {

constexpr std::array stopping{SIGINT, SIGTERM, SIGHUP};
// One wish to stop may come twice: to the program and to its process group (timeout, a wrapper that passes it
// on).
constexpr std::chrono::milliseconds one_wish{500};
std::atomic<int> pending = 0;
// Held while a signal is taken, so that work which may be left at once is not over in between.
std::mutex leaving;
std::function<void()> last_words;  // empty: a signal waits until it is asked for

/// The stopping signals, but for those that nohup or a shell's background job had us ignore: so it stays.
sigset_t signals_not_ignored() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : stopping) {
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler != SIG_IGN) sigaddset(&signals, signal);
  }
  return signals;
}

/// Takes the signals on a thread of its own, all others have them blocked. A handler would not do: oneDNN's
/// products point the stack register into a buffer on the heap while they run, and the frame that a handler
/// needs would be written over whatever lies in front of that buffer.
class SignalThread {
 public:
  SignalThread() : signals_(signals_not_ignored()) {
    // Threads made later inherit the mask; the workers that there are take it over here.
    pthread_sigmask(SIG_BLOCK, &signals_, &former_mask_);
    parallel_for(thread_count(), 1, [this](Index, Index) { pthread_sigmask(SIG_BLOCK, &signals_, nullptr); });
    for (const int signal : stopping) {
      if (sigismember(&signals_, signal) == 1) wake_up_ = signal;
    }
    if (wake_up_ != 0) thread_ = std::thread([this] { wait(); });
  }
  ~SignalThread() {
    ending_ = true;
    if (wake_up_ != 0) {
      pthread_kill(thread_.native_handle(), wake_up_);
      thread_.join();
    }
    pthread_sigmask(SIG_SETMASK, &former_mask_, nullptr);
  }
  SignalThread(const SignalThread&) = delete;
  SignalThread& operator=(const SignalThread&) = delete;

 private:
  void wait() {
    std::chrono::steady_clock::time_point first;
    for (;;) {
      int signal = 0;
      if (sigwait(&signals_, &signal) != 0) continue;
      if (ending_) return;
      const auto now = std::chrono::steady_clock::now();
      if (pending == 0) {
        const std::lock_guard lock(leaving);
        first = now;
        pending = signal;
        if (!last_words) continue;
        last_words();
        _exit(status_of_stopped);
      } else if (now - first > one_wish) {
        _exit(128 + signal);
      }
    }
  }

  sigset_t signals_, former_mask_{};
  int wake_up_ = 0;  // one of the signals; 0: all are ignored, there is nothing to wait for
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

int guards = 0;
std::unique_ptr<SignalThread> signal_thread;
struct sigaction former_file_size {};

}  // namespace

SignalGuard::SignalGuard() {
  if (guards++ > 0) return;
  signal_thread = std::make_unique<SignalThread>();
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigemptyset(&ignore.sa_mask);
  sigaction(SIGXFSZ, &ignore, &former_file_size);
}

SignalGuard::~SignalGuard() {
  if (--guards > 0) return;
  sigaction(SIGXFSZ, &former_file_size, nullptr);
  signal_thread.reset();
}

LeaveAtOnce::LeaveAtOnce(std::function<void()> words) {
  const std::lock_guard lock(leaving);
  stop_if_signalled();
  last_words = std::move(words);
}

LeaveAtOnce::~LeaveAtOnce() {
  const std::lock_guard lock(leaving);
  last_words = nullptr;
}

int pending_signal() { return pending; }

void stop_if_signalled() {
  if (pending != 0) throw Stopped();
}

void clear_signal() { pending = 0; }

}  // namespace tapeline
