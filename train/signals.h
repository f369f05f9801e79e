#pragma once

#include <exception>
#include <functional>

namespace tapeline {

/// What the program ends with when a signal stops it.
inline constexpr int status_of_stopped = 3;

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

/// While one exists within a SignalGuard, a signal ends the program at once, with the exit status of a
/// stopped one, after `last_words`, which another thread than this one calls: for work that has nothing
/// to save and cannot be interrupted for longer than anybody waits, as one op on very long operands. Throws
/// Stopped where a signal is pending already. One at a time.
class LeaveAtOnce {
 public:
  explicit LeaveAtOnce(std::function<void()> last_words);
  ~LeaveAtOnce();
  LeaveAtOnce(const LeaveAtOnce&) = delete;
  LeaveAtOnce& operator=(const LeaveAtOnce&) = delete;
};

/// The signal that asked to stop; 0: none.
int pending_signal();
/// Throws Stopped when there is one: for work that has nothing to save.
void stop_if_signalled();
/// Forgets a pending signal (tests).
void clear_signal();

}  // namespace tapeline
