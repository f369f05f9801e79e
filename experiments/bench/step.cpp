#include "experiments/bench/step.h"

#include <sys/resource.h>

#include <algorithm>
#include <memory>

#include "core/allocation_counter.h"
#include "core/counted.h"
#include "core/parallel.h"
#include "data/window_sampler.h"
#include "experiments/bench/limits.h"
#include "experiments/bench/made_up.h"
#include "experiments/bench/resident_rise.h"
#include "experiments/bench/stopwatch.h"
#include "experiments/measured_step.h"
#include "experiments/median.h"
#include "train/config_derived.h"
#include "train/flops.h"
#include "train/optimizer.h"
#include "train/train_step.h"

namespace tapeline {
namespace {

constexpr Index warm_up_steps = 3;
constexpr Index counted_steps = 5;

double minor_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_minflt);
}

/// A model in training on a made-up text.
class Trained {
 public:
  explicit Trained(const Config& config)
      : config_(config),
        shape_(step_shape(config.train)),
        model_(model_plan(config)),
        step_(model_, shape_, config.model.dropout, config.train.seed),
        optimizer_(make_optimizer(config.optimizer, model_.parameters())),
        text_(made_up_text(4 * shape_.tokens(), model_.plan().vocabulary, config.train.seed)),
        sampler_(text_, {{0, text_.size()}}, shape_.length, config.train.seed),
        inputs_(static_cast<std::size_t>(shape_.tokens())),
        targets_(inputs_.size()) {}

  void step(Watch* watch = nullptr) {
    const WatchScope whole(watch, Timing::Kind::group, Phase::step, "step", ++number_);
    sampler_.next(shape_.windows, inputs_, targets_, watch);
    const LossSum loss = step_.run(number_, inputs_, targets_, {}, watch);
    optimizer_->update(
        {config_.optimizer.lr, static_cast<double>(loss.tokens), config_.optimizer.clip, watch});
  }

  const StepShape& shape() const { return shape_; }
  const Transformer& model() const { return model_; }
  double weight_bytes() const { return static_cast<double>(model_.parameters().size()) * sizeof(Real); }
  double gradient_and_moment_bytes() const {
    return (1 + static_cast<double>(optimizer_->slots().size())) * weight_bytes();
  }
  double peak_bytes() const {
    return weight_bytes() + gradient_and_moment_bytes() + static_cast<double>(step_.peak_bytes());
  }

 private:
  const Config& config_;
  StepShape shape_;
  Transformer model_;
  TrainStep step_;
  std::unique_ptr<Optimizer> optimizer_;
  TokenStore text_;
  WindowSampler sampler_;
  std::vector<Token> inputs_, targets_;
  Index number_ = 0;
};

/// A model in training and the times of its steps.
class TimedSteps {
 public:
  /// Makes the model, warms it up, and counts what a steady step takes of the system.
  explicit TimedSteps(const Config& config) : trained_(config) {
    speed_.encoding = config.positional.name();
    speed_.threads = thread_count();
    speed_.tokens = trained_.shape().tokens();
    speed_.allocations_counted = AllocationCounter::available();
    const TokenFlops flops = token_flops(config.model, trained_.model().plan().vocabulary,
                                         config.train.length, config.positional.keys);
    speed_.gflops = flops.training() / 1e9;  // of one token; a second's tokens come later
    const ResidentRise rise;
    for (Index i = 0; i < warm_up_steps; ++i) trained_.step();
    const double faults = minor_faults();
    const AllocationCounter counter;
    for (Index i = 0; i < counted_steps; ++i) trained_.step();
    const AllocationCounts counts = counter.counts();
    speed_.heap_allocations = static_cast<double>(counts.own) / counted_steps;
    speed_.vendor_allocations = static_cast<double>(counts.vendor) / counted_steps;
    speed_.minor_faults = (minor_faults() - faults) / counted_steps;
    if (const std::optional<double> bytes = rise.bytes())
      speed_.peak_rss_bytes = *bytes + trained_.gradient_and_moment_bytes();
  }

  Trained& trained() { return trained_; }
  const std::vector<double>& seconds() const { return plain_; }

  /// Whatever came before leaves the caches as it likes: a step that nobody times or watches comes first, and
  /// who of the two others is next changes each time.
  void repeat(Index round) {
    trained_.step();
    double watched = 0;
    if (round % 2 == 1) watched = watched_step();
    plain_.push_back(seconds_of([&] { trained_.step(); }));
    if (round % 2 == 0) watched = watched_step();
    watch_ratios_.push_back(watched / plain_.back());
  }

  /// What was found; `floor` null: it was not measured.
  StepSpeed speed(const Floor* floor) const {
    StepSpeed speed = speed_;
    speed.repeats = static_cast<Index>(plain_.size());
    speed.step_seconds = median(plain_);
    speed.watched_step_seconds = breakdown_.median_step_seconds();
    speed.watch_overhead = median(watch_ratios_) - 1;
    speed.ops = breakdown_.rows();
    speed.ops_seconds = breakdown_.step_seconds();
    speed.tokens_per_second = static_cast<double>(speed.tokens) / speed.step_seconds;
    speed.gflops *= speed.tokens_per_second;
    speed.peak_bytes = trained_.peak_bytes();
    if (floor == nullptr) return speed;
    speed.floor_seconds = floor->seconds();
    speed.gemm_floor_ratio = speed.step_seconds / *speed.floor_seconds;
    speed.floor = floor->lines();
    return speed;
  }

 private:
  double watched_step() {
    watch_.clear();
    trained_.step(&watch_);
    breakdown_.add(watch_.timings());
    return 1e-9 * static_cast<double>(watch_.timings().front().end - watch_.timings().front().begin);
  }

  Trained trained_;
  StepSpeed speed_;
  std::vector<double> plain_, watch_ratios_;
  Breakdown breakdown_;
  Watch watch_;
};

std::optional<Floor> floor_of(const Config& config, const BenchOptions& options) {
  if (!options.floor) return std::nullopt;
  return step_floor(config, model_plan(config).vocabulary, step_shape(config.train));
}

const Floor* pointer(const std::optional<Floor>& floor) { return floor ? &*floor : nullptr; }

}  // namespace

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
  for (Index step = 0; trace.watch() != nullptr; ++step) {
    rounds.turn(step, "traced steps");
    steps.trained().step(trace.watch());
    rounds.hold();
    trace.after_step();
  }
  return steps.speed(pointer(floor));
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
    StepSpeed& speed = speeds.emplace_back(steps->speed(pointer(floor)));
    speed.peak_rss_bytes.reset();
    if (none == nullptr) continue;
    std::vector<double> ratios;
    for (std::size_t i = 0; i < steps->seconds().size(); ++i)
      ratios.push_back(steps->seconds()[i] / none->seconds()[i]);
    speed.ratio_over_none = median(ratios);
  }
  return speeds;
}

}  // namespace tapeline
