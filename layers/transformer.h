#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/ops.h"
#include "layers/block.h"
#include "layers/cache.h"
#include "layers/embedding.h"
#include "layers/model_config.h"
#include "layers/model_positions.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// A decoder-only Transformer: token rows, positions, pre-norm blocks, a last norm, a head (tied to the token
/// table by default). It holds one encoding a layer and never asks which.
class Transformer {
 public:
  /// Registers all parameters, allocates them and fills them from (seed, name): shared parameters are
  /// bit-equal across encodings. Throws ConfigError for sizes that do not fit together.
  explicit Transformer(const ModelPlan& plan);
  /// The same with an encoding of one's own in place of the registered one; plan.positional still gives the
  /// mask, and the name under which the encoding's parameters stand.
  /// With a pattern it is called once for each name in it.
  using MakeEncoding = ModelPositions::MakeEncoding;
  Transformer(const ModelPlan& plan, const MakeEncoding& make);

  /// The number of parameters of a model of this plan, which is not made: no memory is taken. Throws
  /// ConfigError where making it would.
  static Index parameter_count(const ModelPlan& plan);

  const ModelPlan& plan() const { return plan_; }
  ParameterStore& parameters() { return *store_; }
  const ParameterStore& parameters() const { return *store_; }
  const PositionalEncoding& encoding(Index layer = 0) const { return positions_->encoding(layer); }
  /// The most rows a sequence may have, when an encoding or a randomized draw has a limit.
  std::optional<Index> max_length() const { return positions_->max_length(); }
  /// What that limit is of: "learned", "randomized".
  const std::string& limited_by() const { return positions_->limited_by(); }
  /// `rows`, or as many of them as every encoding takes in one pass.
  Index rows_a_pass(Index rows) const { return std::min(rows, positions_->max_rows().value_or(rows)); }

  /// The rows before the head: ids of batch * time tokens -> [B, T, C]. With a cache the rows follow those
  /// already in it (no tape then), and attend to them. Throws ShapeError past the encoding's limit, with both
  /// numbers.
  Var hidden(Pass& pass, std::span<const Token> ids, Index batch, KeyValueCache* cache = nullptr) const;
  /// Summed negative log-likelihood of `targets`, in nats; see cross_entropy.
  Var loss(Pass& pass, std::span<const Token> ids, std::span<const Token> targets, Index batch,
           LossDetail* detail = nullptr, KeyValueCache* cache = nullptr) const;
  /// Logits of hidden rows: [..., C] -> [..., V].
  Var logits(Pass& pass, Var hidden) const;

  /// A cache that fits this model, for passes with that key_limit.
  KeyValueCache make_cache(Index batch, Index capacity_hint = 0, Index key_limit = 0) const;

 private:
  enum class Weights { made, only_counted };
  Transformer(const ModelPlan& plan, const MakeEncoding& make, Weights weights);

  ModelPlan plan_;
  std::unique_ptr<ParameterStore> store_;
  std::optional<ModelPositions> positions_;
  std::optional<Embedding> embedding_;
  Parameter* head_ = nullptr;  // the token table when tied
  std::optional<Norm> embedding_norm_;
  std::vector<Block> blocks_;
  std::optional<Norm> final_norm_;
};

}  // namespace tapeline::inline TAPELINE_PRECISION
