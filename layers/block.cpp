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
  // What a part gives is added to the stream in its last product, unless dropout stands between.
  const Dropout dropped = pass.dropout_at("attention_output", layer);
  const Var normed = attention_norm(pass, x, Lifetime::passing);
  const Var middle = dropped.rate == 0
                         ? attention.onto(pass, x, normed, positions, cache)
                         : add(x, dropout(attention(pass, normed, positions, cache), dropped, first_row));
  pass.tape.forget(normed);
  const Dropout dropped_inside = pass.dropout_at("feed_forward_output", layer);
  const Var seen = feed_forward_norm(pass, parallel_residual ? x : middle, Lifetime::passing);
  const Var result = dropped_inside.rate == 0
                         ? feed_forward.onto(pass, middle, seen)
                         : add(middle, dropout(feed_forward(pass, seen), dropped_inside, first_row));
  pass.tape.forget(seen);
  return result;
}

}  // namespace tapeline::inline TAPELINE_PRECISION
