#include "experiments/bench/timed_steps.h"

#include <sys/resource.h>

#include "core/allocation_counter.h"
#include "core/parallel.h"
#include "experiments/bench/made_up.h"
#include "experiments/bench/resident_rise.h"
#include "experiments/bench/stopwatch.h"
#include "experiments/median.h"
#include "train/config_derived.h"
#include "train/flops.h"

namespace tapeline {
namespace {

constexpr Index warm_up_steps = 3;
constexpr Index counted_steps = 5;

double minor_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_minflt);
}

}  // namespace

Trained::Trained(const Config& config)
    : config_(config),
      shape_(step_shape(config.train)),
      model_(model_plan(config)),
      step_(model_, shape_, config.model.dropout, config.train.seed),
      optimizer_(make_optimizer(config.optimizer, model_.parameters())),
      text_(made_up_text(4 * shape_.tokens(), model_.plan().vocabulary, config.train.seed)),
      sampler_(text_, {{0, text_.size()}}, shape_.length, config.train.seed),
      inputs_(static_cast<std::size_t>(shape_.tokens())),
      targets_(inputs_.size()) {}

void Trained::step(Watch* watch) {
  const WatchScope whole(watch, Timing::Kind::group, Phase::step, "step", ++number_);
  sampler_.next(shape_.windows, inputs_, targets_, watch);
  const LossSum loss = step_.run(number_, inputs_, targets_, {}, watch);
  optimizer_->update({config_.optimizer.lr, static_cast<double>(loss.tokens), config_.optimizer.clip, watch});
}

TimedSteps::TimedSteps(const Config& config) : trained_(config) {
  speed_.encoding = config.positional.name();
  speed_.threads = thread_count();
  speed_.tokens = trained_.shape().tokens();
  speed_.allocations_counted = AllocationCounter::available();
  const TokenFlops flops = token_flops(config.model, trained_.model().plan().vocabulary, config.train.length,
                                       config.positional.keys);
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

void TimedSteps::repeat(Index round) {
  trained_.step();
  double watched = 0;
  if (round % 2 == 1) watched = watched_step();
  plain_.push_back(seconds_of([&] { trained_.step(); }));
  if (round % 2 == 0) watched = watched_step();
  watch_ratios_.push_back(watched / plain_.back());
}

StepSpeed TimedSteps::speed(const Floor* floor) const {
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

double TimedSteps::watched_step() {
  watch_.clear();
  trained_.step(&watch_);
  breakdown_.add(watch_.timings());
  return 1e-9 * static_cast<double>(watch_.timings().front().end - watch_.timings().front().begin);
}

double median_ratio(const std::vector<double>& first, const std::vector<double>& second) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < first.size(); ++i) ratios.push_back(first[i] / second[i]);
  return median(ratios);
}

std::optional<Floor> floor_of(const Config& config, const BenchOptions& options) {
  if (!options.floor) return std::nullopt;
  return step_floor(config, model_plan(config).vocabulary, step_shape(config.train));
}

}  // namespace tapeline
