#pragma once

#include "layers/linear.h"
#include "layers/model_config.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// The part of a block that looks at one row at a time:
///   gelu, gelu_tanh: output(gelu(inner(x)));  swiglu: output(silu(gate(x)) * inner(x)).
/// Parameters: [gate,] inner, output; inner width model.feed_forward * width, or model.feed_forward_width.
struct FeedForward {
  FeedForward(const Scope& scope, const ModelConfig& config);

  Var operator()(Pass& pass, Var x) const;  // [..., C] -> [..., C]
  /// Added to `stream` [..., C], the residual stream.
  Var onto(Pass& pass, Var stream, Var x) const;

  /// inner and the activation behind it: [..., C] -> [..., F].
  Var (*inside)(Pass& pass, const JointLinear& inner, Var x) = nullptr;
  JointLinear inner;  ///< gate and inner side by side for swiglu
  Linear output;
};

}  // namespace tapeline::inline TAPELINE_PRECISION
