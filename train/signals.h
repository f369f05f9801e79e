#pragma once

#include <exception>

namespace tapeline {

/// Thrown when a signal asked the program to stop and everything has been saved: exit code 3. Not an error.
class Stopped : public std::exception {
 public:
  const char* what() const noexcept override { return "stopped by a signal"; }
};

/// While one exists, SIGINT, SIGTERM and SIGHUP sent to the program only set a flag, and one more, half
/// a second later or after that, leaves at once with 128 + n; SIGXFSZ is ignored, so that a file-size limit
/// is an error of the write. No thread that computes is ever interrupted. Guards nest; the outermost one,
/// made and destroyed on one thread, restores what was there before.
class SignalGuard {
 public:
  SignalGuard();
  ~SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;
};

/// The signal that asked to stop; 0: none.
int pending_signal();
/// Throws Stopped when there is one: for work that has nothing to save.
void stop_if_signalled();
/// Forgets a pending signal (tests).
void clear_signal();

}  // namespace tapeline
