#pragma once

#include <vector>

#include "core/tensor.h"
#include "layers/positional/distances.h"
#include "layers/positional/registry.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// What a key after its query gets, where no causal mask hides it.
enum class AlibiSides {
  symmetric,  ///< the same as one before it: -slope |d|
  split  ///< slope / 2 less than one before it, which tells the two apart (Ruoss et al. 2023, 2305.16843)
};

/// By how much slopes are divided in a context longer than the trained one (Al-Khateeb, Dey, Soboleva,
/// Hestness 2023, 2310.13017).
struct AlibiStretch {
  bool automatic = false;  ///< context / trained length where that is above 1, else 1
  double factor = 1;       ///< otherwise
};

/// Attention with linear biases: score(i, j) gets -slope_h |d|, d = i - j, and with AlibiSides::split another
/// slope_h / 2 where d > 0 (Press, Smith, Lewis 2022, 2108.12409). Parameters: none, or with learned slopes
/// one a head, positional/alibi/slopes, kept at 0 or above.
class AlibiPositions final : public PositionalEncoding {
 public:
  struct Settings {
    Index heads = 0, head_width = 0, train_length = 0;
    bool causal = true;
    bool learned = false;
    AlibiSides sides = AlibiSides::symmetric;
    AlibiStretch stretch{};
  };
  /// `scope`: "positional/alibi", for learned slopes.
  AlibiPositions(const Scope& scope, const Settings& settings);

  ScoreTerms score_terms(Pass& pass, const PassPositions& all, Index layer) const override;

 private:
  Var slopes_for(Pass& pass, const PassPositions& all) const;
  Var split_table(Pass& pass, Var slopes, const Distances& distances) const;

  Settings settings_;
  Storage slopes_;
  Parameter* learned_slopes_ = nullptr;
};

/// The slopes of the paper's own code for any number of heads: with P the largest power of two up to it,
/// 2^(-8h/P) for h = 1 .. P, then 2^(-8(2t+1)/(2P)) for t = 0, 1, ..., appended, not sorted.
std::vector<double> alibi_slopes(Index heads);

const EncodingKind& alibi_kind();

}  // namespace tapeline::inline TAPELINE_PRECISION
