#pragma once

#include "core/ops.h"
#include "layers/model_config.h"
#include "layers/pass.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// Layer norm or RMS norm over the width, as model.norm says. Parameters: gain [C]; shift [C] for a layer
/// norm in a model with biases. Neither decays.
struct Norm {
  Norm(const Scope& scope, const ModelConfig& config);

  Var operator()(Pass& pass, Var x, Lifetime lifetime = Lifetime::tape) const;  // [..., C] -> [..., C]

  Parameter* gain = nullptr;
  Parameter* shift = nullptr;  ///< nullptr: none
  bool rms = false;
  double epsilon = 0;
};

}  // namespace tapeline::inline TAPELINE_PRECISION
