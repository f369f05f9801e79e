#include "layers/norm.h"

#include "layers/init.h"

namespace tapeline::inline TAPELINE_PRECISION {

Norm::Norm(const Scope& scope, const ModelConfig& config)
    : gain(&scope.add("gain", {.shape = {config.width}, .initializer = ones()})),
      rms(config.norm == "rms"),
      epsilon(config.norm_epsilon) {
  if (!rms && config.bias) shift = &scope.add("shift", {.shape = {config.width}, .initializer = zeros()});
}

Var Norm::operator()(Pass& pass, Var x, Lifetime lifetime) const {
  const Var scaled_by = pass.tape.leaf(*gain);
  if (rms) return rms_norm(x, scaled_by, epsilon, lifetime);
  return layer_norm(x, scaled_by, shift != nullptr ? pass.tape.leaf(*shift) : Var{}, epsilon, lifetime);
}

}  // namespace tapeline::inline TAPELINE_PRECISION
