#pragma once

#include <functional>
#include <span>

#include "core/arena.h"
#include "core/gradient_pool.h"
#include "layers/transformer.h"
#include "train/config.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// The shape of one optimizer step: `windows` windows of `length` tokens, `micro_batch` of them at once.
struct StepShape {
  Index length = 0;
  Index windows = 0;
  Index micro_batch = 0;  ///< divides windows
  Index tokens() const { return length * windows; }
};

/// Windows run at once when the configuration says "auto": the most that keep a micro-batch at or below
/// 4,096 tokens and divide `windows`.
Index automatic_micro_batch(Index windows, Index length);
/// The step that the configuration asks for. Throws ConfigError, with the numbers, when tokens_per_step is no
/// multiple of length or micro_batch does not divide the windows.
StepShape step_shape(const TrainConfig& config);

/// What the gradients of one step are sums over.
struct LossSum {
  double total = 0;  ///< nats
  Index tokens = 0;
  double mean() const { return total / static_cast<double>(tokens); }
};

/// Forward and backward of one step: summed losses, summed gradients in the model's parameters. However the
/// windows are cut into micro-batches, the sums are over the same numbers, dropout drops the same elements,
/// and randomized positions are those of one draw a step. The arena and the gradient pool are kept from step
/// to step, so a steady step allocates nothing.
class TrainStep {
 public:
  /// `dropout`: rate; `seed`: of the run, for the streams of dropout and of positions.
  TrainStep(Transformer& model, const StepShape& shape, double dropout, std::uint64_t seed);

  /// Adds the gradients of step number `step` (it keys what is drawn) over `inputs` and `targets`,
  /// shape.tokens() each. `poll` is called before every micro-batch and may throw. Gradients must be zero at
  /// the start. `watch`, where given, sees every op.
  LossSum run(Index step, std::span<const Token> inputs, std::span<const Token> targets,
              const std::function<void()>& poll = {}, Watch* watch = nullptr);

  const StepShape& shape() const { return shape_; }
  /// Values, gradients of activations and closures at their highest; without weights and moments.
  std::size_t peak_bytes() const { return arena_.peak_bytes() + pool_.peak_bytes(); }

 private:
  Transformer& model_;
  StepShape shape_;
  double dropout_;
  RandomKey dropout_key_;
  RandomKey position_key_;
  Arena arena_;
  GradientPool pool_;
};

}  // namespace tapeline::inline TAPELINE_PRECISION
