#pragma once

#include <memory>

#include "layers/positional/kept_tables.h"
#include "layers/positional/per_layer.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// Functional interpolation for relative positions (FIRE, Li et al. 2023, 2310.04418): score(i, j) gets
///   b_h = w_h . relu(w x + b) + c_h,  x = ln(|kappa d| + 1) / (ln(|kappa max(i, T)| + 1) + 1e-6),
/// d = i - j, T = |mu length|, i the position of the query. x stays in [0, 1] at any length; past T the bias
/// is no function of the distance alone. Parameters, in "positional/fire" when shared by the layers, else in
/// "blocks/<i>/attention/positional": kappa, mu [1], inner_weight (w), inner_bias (b) [hidden],
/// output_weight [H, hidden], output_bias (c) [H].
class FirePositions final : public PositionalEncoding {
 public:
  struct Settings {
    Index hidden = 32;
    double length = 0;    ///< of T at mu = 1
    bool shared = false;  ///< one function for all layers (FIRE-S)
  };
  /// Throws ConfigError for a number of hidden units that makes no sense.
  FirePositions(const EncodingContext& context, const Settings& settings);

  ScoreTerms score_terms(Pass& pass, const PassPositions& all, Index layer) const override;

 private:
  struct Network {
    Parameter *kappa, *mu, *inner_weight, *inner_bias, *output_weight, *output_bias;
    std::unique_ptr<GrowingTable> numerators;  // of passes that do not record
  };
  Var numerator(Pass& pass, const Network& network, const Distances& distances) const;
  static Network make_network(const Scope& scope, Index hidden, Index heads);

  double length_;
  bool causal_;
  PerLayer<Network> networks_;
};

const EncodingKind& fire_kind();

}  // namespace tapeline::inline TAPELINE_PRECISION
