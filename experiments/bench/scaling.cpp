#include "experiments/bench/scaling.h"

#include <fmt/format.h>

#include "core/counted.h"
#include "core/error.h"
#include "core/parallel.h"
#include "experiments/bench/limits.h"
#include "experiments/bench/timed_steps.h"
#include "experiments/measured_step.h"

namespace tapeline {
namespace {

/// A model in training with the threads that there are when it is made, and its floor.
class Threaded {
 public:
  Threaded(const Config& config, const BenchOptions& options)
      : threads_(thread_count()), steps_(config), floor_(floor_of(config, options)) {}

  void repeat(Index round) {
    set_thread_count(threads_);
    // The first step of a repeat is not timed: the runtime makes and ends threads in it.
    steps_.repeat(round);
    if (floor_) floor_->measure();
  }

  StepSpeed speed() const {
    StepSpeed speed = steps_.speed(floor_or_null(floor_));
    speed.peak_rss_bytes.reset();
    return speed;
  }
  const std::vector<double>& seconds() const { return steps_.seconds(); }

 private:
  int threads_;
  TimedSteps steps_;
  std::optional<Floor> floor_;
};

}  // namespace

std::optional<double> ThreadScaling::share() const {
  if (!floor_speedup) return std::nullopt;
  return speedup / *floor_speedup;
}

ThreadScaling measure_scaling(const Config& config, const BenchOptions& options) {
  const int threads = thread_count();
  require<ConfigError>(threads > 1,
                       "--scaling compares several threads with one, and there is one; see --threads");
  require_room("bench step: two models side by side", 2 * least_step_bytes(config));
  Rounds rounds(options);
  set_thread_count(1);
  Threaded one(config, options);
  set_thread_count(threads);
  Threaded all(config, options);
  for (Index round = 0; round < options.repeats; ++round) {
    rounds.turn(round, "1 thread");
    one.repeat(round);
    rounds.turn(round, counted(threads, "thread"));
    all.repeat(round);
  }
  ThreadScaling scaling{.one = one.speed(),
                        .all = all.speed(),
                        .speedup = median_ratio(one.seconds(), all.seconds()),
                        .floor_speedup = std::nullopt};
  if (scaling.one.floor_seconds)
    scaling.floor_speedup = *scaling.one.floor_seconds / *scaling.all.floor_seconds;
  return scaling;
}

}  // namespace tapeline
