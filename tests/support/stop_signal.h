#pragma once

#include <signal.h>
#include <unistd.h>

#include <thread>

#include "train/signals.h"

namespace tapeline::test {

/// Sends this process a signal, as a shell would, and returns when a SignalGuard has taken note of it.
inline void send_stop_signal(int signal) {
  kill(getpid(), signal);
  while (pending_signal() == 0) std::this_thread::yield();
}

}  // namespace tapeline::test
