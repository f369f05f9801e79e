#pragma once

#include "layers/positional/per_layer.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// Relative position representations on the side of the keys: score(i, j) = (q_i . k_j + q_i . a[clip(i -
/// j)]) / sqrt(D) (Shaw, Uszkoreit, Vaswani 2018, 1803.02155, eq. 4). The table on the side of the values
/// (eq. 3) is left out: the paper finds no gain from it (its table 3). Parameter, one a layer, shared by its
/// heads: blocks/<i>/attention/positional/table [rows, D], without weight decay; rows for distances 0 ..
/// clip, without the causal mask for -clip .. clip.
class ShawPositions final : public PositionalEncoding {
 public:
  /// `clip`: the largest distance with a row of its own. Throws ConfigError for one below 1, or of 2^31 and
  /// more.
  ShawPositions(const EncodingContext& context, Index clip);

  ScoreTerms score_terms(Pass& pass, const PassPositions& all, Index layer) const override;

 private:
  Index clip_;
  bool causal_;
  PerLayer<Parameter*> tables_;
};

const EncodingKind& shaw_kind();

}  // namespace tapeline::inline TAPELINE_PRECISION
