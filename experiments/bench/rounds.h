#pragma once

#include <fmt/format.h>

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
/// else the machine does touches all of it.
class Rounds {
 public:
  explicit Rounds(const BenchOptions& options) : repeats_(options.repeats), progress_(options.progress) {}

  /// Before a turn of `what` ("length 64"): throws Stopped when a signal asked for it; shows where we are.
  void turn(Index round, std::string_view what) {
    stop_if_signalled();
    if (progress_.due()) progress_.show(fmt::format("repeat {} of {}: {}", round + 1, repeats_, what));
  }

  /// A turn whose work may hold an op of a minute, which cannot be interrupted and has nothing to save: a
  /// signal ends the program within it.
  template <class Work>
  void long_turn(Index round, std::string_view what, Work&& work) {
    turn(round, what);
    const LeaveAtOnce leave([this] {
      progress_.clear();
      tell_bench_stopped();
    });
    work();
  }

 private:
  Index repeats_;
  Progress progress_;
};

}  // namespace tapeline
