#include "layers/block.h"

#include "core/ops.h"

namespace tapeline::inline TAPELINE_PRECISION {

Block::Block(const Scope& scope, const ModelConfig& config, Index layer)
    : parallel_residual(config.parallel_residual),
      attention_norm(scope.scope("attention_norm"), config),
      attention(scope.scope("attention"), config, layer),
      feed_forward_norm(scope.scope("feed_forward_norm"), config),
      feed_forward(scope.scope("feed_forward"), config) {}

Var Block::operator()(Pass& pass, Var x, const LayerPositions& positions, Index first_row,
                      KeyValueCache* cache) const {
  const Index layer = attention.layer;
  const PartScope part(pass.tape, "block", layer);
  const Var attended = dropout(attention(pass, attention_norm(pass, x), positions, cache),
                               pass.dropout_at("attention_output", layer), first_row);
  const Var middle = add(x, attended);  // [B, T, C]
  const Var seen = feed_forward_norm(pass, parallel_residual ? x : middle);
  const Var computed =
      dropout(feed_forward(pass, seen), pass.dropout_at("feed_forward_output", layer), first_row);
  return add(middle, computed);
}

}  // namespace tapeline::inline TAPELINE_PRECISION
