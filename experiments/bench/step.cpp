#include "experiments/bench/step.h"

#include <sys/resource.h>

#include <chrono>

#include "core/allocation_counter.h"
#include "core/parallel.h"
#include "experiments/bench/median.h"
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

/// A model in training on made-up tokens.
class Trained {
 public:
  explicit Trained(const Config& config)
      : config_(config),
        shape_(step_shape(config.train)),
        model_(model_plan(config)),
        step_(model_, shape_, config.model.dropout, config.train.seed),
        optimizer_(make_optimizer(config.optimizer, model_.parameters())) {
    const RandomKey key = random_key(config.train.seed, "bench step");
    const auto vocabulary = static_cast<std::uint64_t>(model_.plan().vocabulary);
    for (Index i = 0; i <= shape_.tokens(); ++i) {
      tokens_.push_back(static_cast<Token>(random_below(key, static_cast<std::uint64_t>(i), vocabulary)));
    }
  }

  void step() {
    const auto count = static_cast<std::size_t>(shape_.tokens());
    const std::span<const Token> all = tokens_;
    const LossSum loss = step_.run(++number_, all.first(count), all.last(count));
    optimizer_->update({config_.optimizer.lr, static_cast<double>(loss.tokens), config_.optimizer.clip});
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
  std::vector<Token> tokens_;
  Index number_ = 0;
};

}  // namespace

StepSpeed measure_step(const Config& config, Index repeats) {
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

  std::vector<double> seconds;
  for (Index i = 0; i < repeats; ++i) {
    stop_if_signalled();
    const auto start = std::chrono::steady_clock::now();
    trained.step();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    floor.measure();
  }
  speed.step_seconds = median(seconds);
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
