#include "train/signals.h"

#include <signal.h>
#include <unistd.h>

#include <array>

namespace tapeline {

namespace {

constexpr std::array stopping{SIGINT, SIGTERM, SIGHUP};
volatile sig_atomic_t pending = 0;
int guards = 0;
std::array<struct sigaction, stopping.size()> former{};
struct sigaction former_file_size {};

extern "C" void tapeline_on_signal(int signal) {
  if (pending != 0) _exit(128 + signal);
  pending = signal;
}

}  // namespace

SignalGuard::SignalGuard() {
  if (guards++ > 0) return;
  struct sigaction action {};
  action.sa_handler = tapeline_on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < stopping.size(); ++i) {
    sigaction(stopping[i], nullptr, &former[i]);
    // nohup and background jobs of a shell start us with the signal ignored: so it stays.
    if (former[i].sa_handler != SIG_IGN) sigaction(stopping[i], &action, nullptr);
  }
  action.sa_handler = SIG_IGN;
  sigaction(SIGXFSZ, &action, &former_file_size);
}

SignalGuard::~SignalGuard() {
  if (--guards > 0) return;
  for (std::size_t i = 0; i < stopping.size(); ++i) sigaction(stopping[i], &former[i], nullptr);
  sigaction(SIGXFSZ, &former_file_size, nullptr);
}

int pending_signal() { return pending; }

void stop_if_signalled() {
  if (pending != 0) throw Stopped(pending);
}

void clear_signal() { pending = 0; }

}  // namespace tapeline
