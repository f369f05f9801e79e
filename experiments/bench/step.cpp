#include "experiments/bench/step.h"

#include "core/counted.h"
#include "experiments/bench/limits.h"
#include "experiments/bench/timed_steps.h"
#include "experiments/measured_step.h"

namespace tapeline {

StepSpeed measure_step(const Config& config, const BenchOptions& options, StepTrace& trace) {
  require_room("bench step", least_step_bytes(config));
  Rounds rounds(options);
  TimedSteps steps(config);
  std::optional<Floor> floor = floor_of(config, options);
  for (Index round = 0; round < options.repeats; ++round) {
    rounds.turn(round, "steps");
    if (floor) floor->measure();
    steps.repeat(round);
  }
  while (trace.watch() != nullptr) {
    rounds.turn("steps for the trace");
    steps.trained().step(trace.watch());
    rounds.hold();
    trace.after_step();
  }
  return steps.speed(floor_or_null(floor));
}

std::vector<StepSpeed> measure_encodings(const std::vector<Config>& configs, const BenchOptions& options) {
  double bytes = 0;
  for (const Config& config : configs) bytes += least_step_bytes(config);
  require_room(fmt::format("bench step: {} side by side", counted(configs.size(), "model")), bytes);
  Rounds rounds(options);
  std::vector<std::unique_ptr<TimedSteps>> all;
  const TimedSteps* none = nullptr;
  for (const Config& config : configs) {
    all.push_back(std::make_unique<TimedSteps>(config));
    if (config.positional.name() == "none") none = all.back().get();
  }
  std::optional<Floor> floor = floor_of(configs.front(), options);
  for (Index round = 0; round < options.repeats; ++round) {
    if (floor) floor->measure();
    for (std::size_t i = 0; i < all.size(); ++i) {
      rounds.turn(round, configs[i].positional.name());
      all[i]->repeat(round);
    }
  }
  std::vector<StepSpeed> speeds;
  for (const std::unique_ptr<TimedSteps>& steps : all) {
    StepSpeed& speed = speeds.emplace_back(steps->speed(floor_or_null(floor)));
    speed.peak_rss_bytes.reset();
    if (none != nullptr) speed.ratio_over_none = median_ratio(steps->seconds(), none->seconds());
  }
  return speeds;
}

}  // namespace tapeline
