#pragma once

#include <fmt/format.h>

#include <string_view>

#include "core/index.h"
#include "train/progress.h"
#include "train/signals.h"

namespace tapeline {

/// How a benchmark is run.
struct BenchOptions {
  Index repeats = 15;
  bool floor = true;  ///< also time the products alone; false: ratios are not known
  ProgressStyle progress = ProgressStyle::none;
};

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

 private:
  Index repeats_;
  Progress progress_;
};

}  // namespace tapeline
