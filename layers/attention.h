#pragma once

#include "layers/cache.h"
#include "layers/linear.h"
#include "layers/model_config.h"
#include "layers/positional/encoding.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// What one layer needs to know about positions in one pass: how its queries and keys are turned, how its
/// scores are changed. Made by the encoding before the layer runs.
struct LayerPositions {
  Rotation query, key;  ///< key: of the new rows, or of all key rows where the cache holds raw keys
  ScoreTerms terms;
  CachedKeys cached_keys = CachedKeys::transformed;
};

/// Multi-head self-attention with one product for queries, keys and values.
/// Parameters: query, key, value, output, each with weight and, in a model with biases, bias. With fewer
/// key/value heads than heads, each serves heads / key_value_heads neighbouring query heads (Ainslie et al.
/// 2023, 2305.13245).
struct SelfAttention {
  SelfAttention(const Scope& scope, const ModelConfig& config, Index layer);

  /// x [B, T, C] -> [B, T, C]. With a cache the rows follow those in it.
  Var operator()(Pass& pass, Var x, const LayerPositions& positions, KeyValueCache* cache) const;
  /// Added to `stream` [B, T, C], the residual stream.
  Var onto(Pass& pass, Var stream, Var x, const LayerPositions& positions, KeyValueCache* cache) const;

  Index layer, heads, key_value_heads;
  JointLinear query_key_value;
  Linear output;

 private:
  Var mixed(Pass& pass, Var x, const LayerPositions& positions, KeyValueCache* cache) const;
};

}  // namespace tapeline::inline TAPELINE_PRECISION
