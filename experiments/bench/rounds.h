#pragma once

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "core/index.h"
#include "experiments/output.h"
#include "train/progress.h"
#include "train/signals.h"

namespace tapeline {

/// How a benchmark is run.
struct BenchOptions {
  Index repeats = 15;
  bool floor = true;  ///< also time the products alone; false: ratios are not known
  ProgressStyle progress = ProgressStyle::none;
};

/// The line of a benchmark that a signal stopped.
inline void tell_bench_stopped() {
  tell_stopped("bench", "what was timed is not kept, the same command begins anew");
}

/// The repeats of a benchmark. In each of them everything that is measured has its turn, so that whatever
/// else the machine does touches all of it. From the making of this object a signal ends the program at once:
/// there is nothing to save, and one op, one made-up text may take minutes.
class Rounds {
 public:
  /// Throws Stopped when a signal is pending.
  explicit Rounds(const BenchOptions& options) : repeats_(options.repeats), progress_(options.progress) {
    leave_at_once();
  }

  /// Before a turn of `what` ("length 64"): shows where we are. Throws Stopped when a signal is pending.
  void turn(Index round, std::string_view what) {
    turn(fmt::format("repeat {} of {}: {}", round + 1, repeats_, what));
  }
  /// The same before what is no part of a repeat.
  void turn(std::string_view what) {
    hold();
    progress_.show(what);
    leave_at_once();
  }

  /// Until the next turn a signal waits: something is being written.
  void hold() { leave_.reset(); }

 private:
  void leave_at_once() {
    leave_.emplace([this] {
      progress_.clear();
      tell_bench_stopped();
    });
  }

  Index repeats_;
  Progress progress_;
  std::optional<LeaveAtOnce> leave_;
};

}  // namespace tapeline
