#include "experiments/bench/step.h"

#include <sys/resource.h>

#include <algorithm>

#include "core/allocation_counter.h"
#include "core/parallel.h"
#include "data/token_store.h"
#include "data/window_sampler.h"
#include "experiments/bench/median.h"
#include "experiments/bench/stopwatch.h"
#include "train/config_derived.h"
#include "train/flops.h"
#include "train/optimizer.h"
#include "train/signals.h"
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

/// Bytes at random, all of them tokens of the vocabulary.
TokenStore made_up_text(Index tokens, Index vocabulary, std::uint64_t seed) {
  const RandomKey key = random_key(seed, "bench step");
  const auto kinds = static_cast<std::uint64_t>(std::min<Index>(vocabulary, 256));
  std::string text;
  for (Index i = 0; i < tokens; ++i)
    text += static_cast<char>(random_below(key, static_cast<std::uint64_t>(i), kinds));
  return TokenStore::from_text(text, *make_tokenizer("bytes"), "made up");
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
  double peak_bytes() const {
    const double copies = 2 + static_cast<double>(optimizer_->slots().size());
    return copies * static_cast<double>(model_.parameters().size()) * sizeof(Real) +
           static_cast<double>(step_.peak_bytes());
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

}  // namespace

StepSpeed measure_step(const Config& config, Index repeats, StepTrace& trace) {
  if (config.train.threads > 0) set_thread_count(config.train.threads);
  const SignalGuard signals;
  Trained trained(config);
  StepFloor floor(config.model, trained.model().plan().vocabulary, trained.shape());
  for (Index i = 0; i < warm_up_steps; ++i) trained.step();

  StepSpeed speed;
  speed.repeats = repeats;
  speed.threads = thread_count();
  speed.tokens = trained.shape().tokens();
  speed.allocations_counted = AllocationCounter::available();
  {
    const double faults = minor_faults();
    const AllocationCounter counter;
    for (Index i = 0; i < counted_steps; ++i) trained.step();
    const AllocationCounts counts = counter.counts();
    speed.heap_allocations = static_cast<double>(counts.own) / counted_steps;
    speed.vendor_allocations = static_cast<double>(counts.vendor) / counted_steps;
    speed.minor_faults = (minor_faults() - faults) / counted_steps;
  }

  // The floor's products leave the caches as they like: a step that nobody times or watches comes after them,
  // and who of the two others is first changes each time.
  std::vector<double> plain, ratios;
  Breakdown breakdown;
  Watch watch;
  const auto watched_step = [&] {
    watch.clear();
    trained.step(&watch);
    breakdown.add(watch.timings());
    return 1e-9 * static_cast<double>(watch.timings().front().end - watch.timings().front().begin);
  };
  for (Index i = 0; i < repeats; ++i) {
    stop_if_signalled();
    floor.measure();
    trained.step();
    double watched = 0;
    if (i % 2 == 1) watched = watched_step();
    plain.push_back(seconds_of([&] { trained.step(); }));
    if (i % 2 == 0) watched = watched_step();
    ratios.push_back(watched / plain.back());
  }
  while (trace.watch() != nullptr) {
    stop_if_signalled();
    trained.step(trace.watch());
    trace.after_step();
  }
  speed.step_seconds = median(plain);
  speed.watched_step_seconds = breakdown.median_step_seconds();
  speed.watch_overhead = median(ratios) - 1;
  speed.ops = breakdown.rows();
  speed.ops_seconds = breakdown.step_seconds();
  speed.floor_seconds = floor.seconds();
  const auto tokens = static_cast<double>(speed.tokens);
  speed.tokens_per_second = tokens / speed.step_seconds;
  speed.gflops =
      token_flops(config.model, trained.model().plan().vocabulary, config.train.length).training() *
      speed.tokens_per_second / 1e9;
  speed.gemm_floor_ratio = speed.step_seconds / speed.floor_seconds;
  speed.peak_bytes = trained.peak_bytes();
  speed.floor = floor.lines();
  return speed;
}

}  // namespace tapeline
