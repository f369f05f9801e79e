#pragma once

#include <memory>

#include "core/parameter.h"
#include "layers/model_config.h"
#include "layers/pass.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// What a score scale is made from.
struct ScoreScaleContext {
  Index heads = 0;
  Index layers = 0;
  Index train_length = 0;
  Scope root;  ///< of all parameters: those of layer i stand in blocks/<i>/attention/positional
};

/// A factor f on q_i . k_j that grows with the number n of keys that query row i sees, so that attention to
/// many keys stays as sharp as to few. n counts rows, not positions: i + 1, under a window min(i + 1, window
/// + sinks), so a chunk over a cache has the factors of the whole, and no row knows how long the text
/// becomes. Biases are not multiplied.
///   logn    f = ln n / ln L, L the trained length or base_length; with clip at least 1 (Su 2021,
///           kexue.fm/archives/8823; Chiang, Cholak 2022, 2202.12172)
///   ssmax   f = s_h ln n: the softmax to base n^s (Nakanishi 2025, 2501.19399). Parameter
///           blocks/<i>/attention/positional/score_scale [H], at the start one over the mean of ln n in
///           training
///   llama4  f = 1 + attention_scale ln(floor(n / floor_scale) + 1), on layers of kind none where there is a
///           pattern (meta-llama/llama-models, 2025)
class ScoreScale {
 public:
  virtual ~ScoreScale() = default;

  /// The factors of the query rows in `layer`: [Tq] or [H, Tq]; absent: 1.
  virtual Var factors(Pass& pass, const PassPositions& all, Index layer) const = 0;
  /// Whether `layer` has factors at all.
  virtual bool acts_in(Index /*layer*/) const { return true; }
};

/// The scale of config.score, nullptr for none. The configuration is one that validate() lets pass.
std::unique_ptr<ScoreScale> make_score_scale(const PositionalConfig& config,
                                             const ScoreScaleContext& context);

/// The factor of logn. `base` is at least 2.
double log_length_factor(Index keys, Index base, bool clip);
/// The factor of llama4.
double floored_factor(Index keys, double floor_scale, double attention_scale);

}  // namespace tapeline::inline TAPELINE_PRECISION
