#include "layers/transformer.h"

#include <algorithm>

#include "core/error.h"
#include "core/memory.h"
#include "core/ops.h"

namespace tapeline::inline TAPELINE_PRECISION {

namespace {

const ModelPlan& checked(const ModelPlan& plan) {
  validate(plan.model);
  require<ConfigError>(plan.vocabulary >= 1, "the vocabulary has {} symbols; at least 1 is needed",
                       plan.vocabulary);
  require<ConfigError>(plan.train_length >= 1, "train.length = {}; it must be at least 1", plan.train_length);
  return plan;
}

/// Refused before it is tried.
void require_memory(Index parameters) {
  const double bytes = 2.0 * static_cast<double>(parameters) * sizeof(Real),
               machine = physical_memory_bytes();
  require<ConfigError>(
      bytes < usable_memory_bytes(),
      "the model has {} parameters: values and gradients alone take {:.1f} GB, this machine has "
      "{:.1f} GB; make model.width, model.layers or the tables of positions smaller",
      parameters, bytes / 1e9, machine / 1e9);
}

}  // namespace

Transformer::Transformer(const ModelPlan& plan)
    : Transformer(plan, ModelPositions::registered(plan.positional)) {}

Transformer::Transformer(const ModelPlan& plan, const MakeEncoding& make)
    : Transformer(plan, make, Weights::made) {}

Index Transformer::parameter_count(const ModelPlan& plan) {
  const MakeEncoding make = ModelPositions::registered(plan.positional);
  return Transformer(plan, make, Weights::only_counted).parameters().size();
}

Transformer::Transformer(const ModelPlan& plan, const MakeEncoding& make, Weights weights)
    : plan_(checked(plan)), store_(std::make_unique<ParameterStore>()) {
  const ModelConfig& model = plan_.model;
  const Scope root = store_->root();
  embedding_.emplace(root.scope("embedding"), plan_.vocabulary, model.width);
  positions_.emplace(plan_, root, make);
  if (model.embedding_norm) embedding_norm_.emplace(root.scope("embedding_norm"), model);
  blocks_.reserve(static_cast<std::size_t>(model.layers));
  for (Index layer = 0; layer < model.layers; ++layer) {
    blocks_.emplace_back(root.scope("blocks").scope(layer), model, layer);
  }
  final_norm_.emplace(root.scope("final_norm"), model);
  if (model.tied) {
    head_ = embedding_->weight;
    head_->set_tied_to("head");
  } else {
    head_ = &root.scope("head").add(
        "weight", {.shape = {plan_.vocabulary, model.width}, .initializer = normal(), .decays = true});
  }
  require_memory(store_->size());
  if (weights == Weights::made) store_->allocate(plan_.seed);
}

Var Transformer::hidden(Pass& pass, std::span<const Token> ids, Index batch, KeyValueCache* cache) const {
  const Index count = static_cast<Index>(ids.size());
  require<ShapeError>(batch >= 1 && count >= batch && count % batch == 0,
                      "transformer: {} tokens in a batch of {}; each sequence needs the same number of "
                      "tokens, at least 1",
                      count, batch);
  require<StateError>(cache == nullptr || (!pass.tape.recording() && plan_.positional.keys.causal),
                      "transformer: a key/value cache needs a tape that does not record, and causal keys");
  const Index time = count / batch;
  const Index begin = cache == nullptr ? 0 : cache->length();
  positions_->require_length(begin + time);

  Positions kept;
  if (cache != nullptr) kept = cache->key_rows(time);
  const auto all = positions_->of_pass(pass, begin, time, cache != nullptr ? &kept : nullptr);

  Var x = (*embedding_)(pass, ids, batch, time);  // [B, T, C]
  x = positions_->add_to_input(pass, x, all);
  if (embedding_norm_) x = (*embedding_norm_)(pass, x);
  x = dropout(x, pass.dropout_at("embedding", 0), begin);
  if (pass.tape.recording()) {
    for (const Block& block : blocks_) {
      const LayerPositions here = positions_->of_layer(pass, all, block.attention.layer, false);
      x = block(pass, x, here, begin, nullptr);
    }
    return (*final_norm_)(pass, x);
  }

  // Without a tape only the rows themselves outlive a block, so a long window needs one block's memory.
  const Tensor rows = pass.tape.allocate(x.shape());
  std::copy_n(x.value().data, rows.size(), rows.data);
  x = pass.tape.constant(rows);
  for (const Block& block : blocks_) {
    const LayerPositions here = positions_->of_layer(pass, all, block.attention.layer, cache != nullptr);
    const Pass::Scratch scratch(pass);
    const Var y = block(pass, x, here, begin, cache);
    std::copy_n(y.value().data, rows.size(), rows.data);
  }
  return (*final_norm_)(pass, x);
}

Var Transformer::loss(Pass& pass, std::span<const Token> ids, std::span<const Token> targets, Index batch,
                      LossDetail* detail, KeyValueCache* cache) const {
  require<ShapeError>(ids.size() == targets.size(),
                      "transformer: {} tokens and {} targets; each token needs one target (-1: not scored)",
                      ids.size(), targets.size());
  return cross_entropy(hidden(pass, ids, batch, cache), pass.tape.leaf(*head_), Var{}, targets, detail);
}

Var Transformer::logits(Pass& pass, Var rows) const { return linear(rows, pass.tape.leaf(*head_), Var{}); }

KeyValueCache Transformer::make_cache(Index batch, Index capacity_hint, Index key_limit) const {
  const ModelConfig& model = plan_.model;
  return {model.layers,
          batch,
          model.resolved_key_value_heads(),
          model.head_width(),
          plan_.positional.keys.limited_to(key_limit),
          capacity_hint};
}

}  // namespace tapeline::inline TAPELINE_PRECISION
