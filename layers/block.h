#pragma once

#include "layers/attention.h"
#include "layers/feed_forward.h"
#include "layers/norm.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// One pre-norm block:
///   x' = x + attention(norm(x));  y = x' + feed_forward(norm(x')),
/// or with model.parallel_residual: y = x + attention(norm_1(x)) + feed_forward(norm_2(x)) (GPT-NeoX).
/// Dropout acts on what each part adds. Parameters: attention_norm, attention, feed_forward_norm,
/// feed_forward.
struct Block {
  Block(const Scope& scope, const ModelConfig& config, Index layer);

  /// x [B, T, C] -> [B, T, C]. `first_row`: number of row 0 in its sequence.
  Var operator()(Pass& pass, Var x, const LayerPositions& positions, Index first_row,
                 KeyValueCache* cache) const;

  bool parallel_residual;
  Norm attention_norm;
  SelfAttention attention;
  Norm feed_forward_norm;
  FeedForward feed_forward;
};

}  // namespace tapeline::inline TAPELINE_PRECISION
