#include "train/train_step.h"

#include <algorithm>

#include "core/error.h"

namespace tapeline::inline TAPELINE_PRECISION {

namespace {

// More rows at once than this make the products no faster, only the memory larger.
constexpr Index most_tokens_at_once = 4096;

/// Bytes for the activations of a micro-batch, rather more than fewer: in one block nothing is lost at the
/// ends of blocks that were too small for the next tensor, a tenth of all, and what stays unused is never
/// touched.
std::size_t activation_bytes(const ModelConfig& model, const StepShape& shape) {
  const Index numbers_a_layer = 8 * model.width + 4 * model.resolved_feed_forward_width();  // of one token
  const Index tokens = shape.micro_batch * shape.length;
  return std::max(std::size_t{1} << 20,
                  static_cast<std::size_t>(tokens * model.layers * numbers_a_layer) * sizeof(Real));
}

}  // namespace

Index automatic_micro_batch(Index windows, Index length) {
  for (Index parts = 1; parts < windows; ++parts) {
    if (windows % parts == 0 && windows / parts * length <= most_tokens_at_once) return windows / parts;
  }
  return 1;
}

StepShape step_shape(const TrainConfig& config) {
  require<ConfigError>(
      config.length >= 1 && config.tokens_per_step >= config.length &&
          config.tokens_per_step % config.length == 0,
      "train.tokens_per_step is {} and train.length {}; a step must be a whole number of windows",
      config.tokens_per_step, config.length);
  StepShape shape;
  shape.length = config.length;
  shape.windows = config.tokens_per_step / config.length;
  shape.micro_batch =
      config.micro_batch == 0 ? automatic_micro_batch(shape.windows, shape.length) : config.micro_batch;
  require<ConfigError>(
      shape.micro_batch >= 1 && shape.windows % shape.micro_batch == 0,
      "train.micro_batch is {}; it must divide the {} windows of a step (tokens_per_step {} / "
      "length {})",
      shape.micro_batch, shape.windows, config.tokens_per_step, config.length);
  return shape;
}

TrainStep::TrainStep(Transformer& model, const StepShape& shape, double dropout, std::uint64_t seed)
    : model_(model),
      shape_(shape),
      dropout_(dropout),
      dropout_key_(random_key(seed, "dropout")),
      position_key_(random_key(seed, "positions")),
      arena_(activation_bytes(model.plan().model, shape)) {}

LossSum TrainStep::run(Index step, std::span<const Token> inputs, std::span<const Token> targets,
                       const std::function<void()>& poll, Watch* watch) {
  const auto expected = static_cast<std::size_t>(shape_.tokens());
  require<ShapeError>(inputs.size() == expected && targets.size() == expected,
                      "train step: {} inputs and {} targets; expected {} of each ({} windows of {})",
                      inputs.size(), targets.size(), expected, shape_.windows, shape_.length);
  LossSum sum;
  for (Index first = 0; first < shape_.windows; first += shape_.micro_batch) {
    if (poll) poll();
    const auto begin = static_cast<std::size_t>(first * shape_.length);
    const auto count = static_cast<std::size_t>(shape_.micro_batch * shape_.length);
    Tape tape(arena_, pool_, Recording::on, watch);
    Pass pass(tape);
    if (dropout_ > 0) {
      pass.dropout = Dropout{dropout_, dropout_key_.child(static_cast<std::uint64_t>(step)), first};
    }
    pass.position_key = position_key_.child(static_cast<std::uint64_t>(step));
    LossDetail detail;
    Var loss;
    {
      const WatchScope forward(watch, Timing::Kind::group, Phase::forward, "forward");
      loss = model_.loss(pass, inputs.subspan(begin, count), targets.subspan(begin, count),
                         shape_.micro_batch, &detail);
    }
    {
      const WatchScope backward(watch, Timing::Kind::group, Phase::backward, "backward");
      tape.backward(loss);
    }
    sum.total += detail.total;
    sum.tokens += static_cast<Index>(count);
  }
  return sum;
}

}  // namespace tapeline::inline TAPELINE_PRECISION
