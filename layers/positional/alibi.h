#pragma once

#include <vector>

#include "core/tensor.h"
#include "layers/positional/registry.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// Attention with linear biases: score(i, j) gets -slope_h |i - j| (Press, Smith, Lewis 2022, 2108.12409).
/// The same form serves causal and symmetric attention. Parameters: none, or with learned slopes one a head,
/// positional/alibi/slopes, kept at 0 or above.
class AlibiPositions final : public PositionalEncoding {
 public:
  struct Settings {
    Index heads = 0, head_width = 0;
    bool learned = false;
  };
  AlibiPositions(const Scope& scope, const Settings& settings);

  ScoreTerms score_terms(Pass& pass, const PassPositions& all, Index layer) const override;

 private:
  Storage slopes_;
  Parameter* learned_slopes_ = nullptr;
};

/// The slopes of the paper's own code for any number of heads: with P the largest power of two up to it,
/// 2^(-8h/P) for h = 1 .. P, then 2^(-8(2t+1)/(2P)) for t = 0, 1, ..., appended, not sorted.
std::vector<double> alibi_slopes(Index heads);

const EncodingKind& alibi_kind();

}  // namespace tapeline::inline TAPELINE_PRECISION
