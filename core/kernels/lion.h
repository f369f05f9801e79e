#pragma once

#include <limits>

#include "core/real.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// One update of Lion (Chen et al. 2023, 2302.06675, algorithm 2) for one run of numbers that share the decay
/// and the bounds:
///   g = gradient_scale * gradient;  c = beta1 m + (1 - beta1) g;  m = beta2 m + (1 - beta2) g
///   value = (1 - lr decay) value - lr sign(c)
/// with sign(0) = 0. Every number moves by the whole rate, so rates are a third to a tenth of AdamW's. The
/// value is then brought within [lowest, highest] and the gradient set to zero.
struct Lion {
  double lr = 0;
  double beta1 = 0.9, beta2 = 0.99;
  double decay = 0;
  double gradient_scale = 1;  ///< one over the step's tokens, times the clip factor
  Real lowest = -std::numeric_limits<Real>::infinity();
  Real highest = std::numeric_limits<Real>::infinity();
};

/// `count` numbers each.
struct LionSpans {
  Real* value = nullptr;
  Real* gradient = nullptr;
  Real* moment = nullptr;
  Index count = 0;
};

void lion(const Lion& update, const LionSpans& spans);

}  // namespace tapeline::inline TAPELINE_PRECISION
