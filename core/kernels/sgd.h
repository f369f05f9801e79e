#pragma once

#include <limits>

#include "core/real.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// One update of stochastic gradient descent with momentum (heavy ball, Polyak 1964) and decoupled decay, for
/// one run of numbers that share the decay and the bounds:
///   g = gradient_scale * gradient;  velocity = momentum velocity + g
///   value = (1 - lr decay) value - lr velocity
/// The value is then brought within [lowest, highest] and the gradient set to zero.
struct Sgd {
  double lr = 0;
  double momentum = 0.9;
  double decay = 0;
  double gradient_scale = 1;  ///< one over the step's tokens, times the clip factor
  Real lowest = -std::numeric_limits<Real>::infinity();
  Real highest = std::numeric_limits<Real>::infinity();
};

/// `count` numbers each.
struct SgdSpans {
  Real* value = nullptr;
  Real* gradient = nullptr;
  Real* velocity = nullptr;
  Index count = 0;
};

void sgd(const Sgd& update, const SgdSpans& spans);

}  // namespace tapeline::inline TAPELINE_PRECISION
