#pragma once

#include <vector>

#include "layers/positional/distances.h"
#include "layers/positional/kept_tables.h"
#include "layers/positional/per_layer.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// Projected sinusoids of the distance d = i - j, with a bias each for content and position:
///   score(i, j) = ((q_i + u) . k_j + (q_i + v) . rho_d) / sqrt(D),  rho_d = W_R R_d cut into heads,
///   R_d = [sin(d f_0), sin(d f_1), ... | cos(d f_0), ...],  f_p = 10000^(-2p/C), of the signed distance
/// (Dai et al. 2019, 1901.02860). Parameters: content_bias u [H, D], position_bias v [H, D], both N(0,
/// 0.02^2), projection W_R [H D, C]; one for all layers, or one a layer. clamp > 0: distances beyond it count
/// as clamp.
class ProjectedSinusoids final : public PositionalEncoding {
 public:
  struct Settings {
    bool biases_per_layer = false, projection_per_layer = false;
    Index clamp = 0;
  };
  /// Throws ConfigError naming `key` ("positional.xlnet.clamp_len") for a clamp below 0.
  ProjectedSinusoids(const EncodingContext& context, const Settings& settings, std::string_view key);

  ScoreTerms score_terms(Pass& pass, const PassPositions& all, Index layer) const override;

 private:
  struct Biases {
    Parameter *content, *position;  // u, v
  };
  Distances held(const Distances& met) const;  // that have a vector of their own
  Var projected(Pass& pass, const Distances& distances, Index layer) const;  // rho [distances, H D]

  Settings settings_;
  Index width_;
  bool causal_;
  std::vector<double> frequencies_;
  PerLayer<Biases> biases_;
  PerLayer<Parameter*> projections_;
  KeptTables tables_;
};

}  // namespace tapeline::inline TAPELINE_PRECISION
