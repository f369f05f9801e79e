#include "layers/attention.h"

#include <algorithm>

#include "core/ops.h"

namespace tapeline::inline TAPELINE_PRECISION {

namespace {

/// One half of the cache as a tensor of its own: [B, Hkv, rows, D].
Var gather_cached(Tape& tape, const CachedKeyValues& cached, const Real* from) {
  const Tensor rows = tape.allocate({cached.batch, cached.heads, cached.rows, cached.width});
  for (Index head = 0; head < cached.batch * cached.heads; ++head) {
    std::copy_n(from + head * cached.head_stride, cached.rows * cached.width,
                rows.data + head * cached.rows * cached.width);
  }
  return tape.constant(rows);
}

}  // namespace

SelfAttention::SelfAttention(const Scope& scope, const ModelConfig& config, Index number)
    : layer(number),
      heads(config.heads),
      key_value_heads(config.resolved_key_value_heads()),
      query_key_value(scope, config.width,
                      {{"query", config.width},
                       {"key", key_value_heads * config.head_width()},
                       {"value", key_value_heads * config.head_width()}},
                      config.bias),
      output(scope.scope("output"), config.width, config.width, config.bias,
             residual_deviation(config.layers)) {}

// The heads' outputs side by side, [B, T, C].
Var SelfAttention::mixed(Pass& pass, Var x, const LayerPositions& positions, KeyValueCache* cache) const {
  AttentionProbe* probe = pass.probes.empty() ? nullptr : &pass.probes[static_cast<std::size_t>(layer)];
  const bool raw = cache != nullptr && positions.cached_keys == CachedKeys::raw;
  const Var joint = linear_heads(x, query_key_value.joint_weight(pass), query_key_value.joint_bias(pass),
                                 heads, key_value_heads, positions.query,
                                 raw ? Rotation{} : positions.key);  // [B, T, (H + 2 Hkv) D]
  if (cache == nullptr) {
    return joint_attention(joint, heads, key_value_heads, positions.terms,
                           pass.dropout_at("attention", layer), probe);
  }
  const HeadsSplit split = split_heads(joint, heads, key_value_heads);  // [B, H | Hkv, T, D]
  const CachedKeyValues cached = cache->append(layer, split.key.value(), split.value.value());
  if (!raw) return merge_heads(attention(split.query, cached, positions.terms, probe));
  Var keys = gather_cached(pass.tape, cached, cached.keys);  // [B, Hkv, rows, D]
  if (positions.key) keys = rotate(keys, positions.key);
  const Var values = gather_cached(pass.tape, cached, cached.values);
  return merge_heads(attention(split.query, keys, values, positions.terms, {}, probe));
}

Var SelfAttention::operator()(Pass& pass, Var x, const LayerPositions& positions,
                              KeyValueCache* cache) const {
  return output(pass, mixed(pass, x, positions, cache));
}

Var SelfAttention::onto(Pass& pass, Var stream, Var x, const LayerPositions& positions,
                        KeyValueCache* cache) const {
  return output.onto(pass, stream, mixed(pass, x, positions, cache));
}

}  // namespace tapeline::inline TAPELINE_PRECISION
