#pragma once

#include <vector>

#include "layers/positional/relative_tables.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// Relative position representations on the side of the keys: score(i, j) = (q_i . k_j + q_i . a[clip(i -
/// j)]) / sqrt(D) (Shaw, Uszkoreit, Vaswani 2018, 1803.02155, eq. 4). The table on the side of the values
/// (eq. 3) is left out: the paper finds no gain from it (its table 3). Parameter, one a layer, shared by its
/// heads: blocks/<i>/attention/positional/table [rows, D], without weight decay; rows for distances 0 ..
/// clip, without the causal mask for -clip .. clip.
class ShawPositions final : public PositionalEncoding {
 public:
  struct Settings {
    Index head_width = 0, layers = 0, clip = 0;
    bool causal = true;
  };
  ShawPositions(const EncodingContext& context, const Settings& settings);

  ScoreTerms score_terms(Pass& pass, const PassPositions& all, Index layer) const override;

 private:
  Settings settings_;
  std::vector<Parameter*> tables_;
};

const EncodingKind& shaw_kind();

}  // namespace tapeline::inline TAPELINE_PRECISION
