#pragma once

#include <limits>

#include "core/real.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// One update of AdamW (Loshchilov, Hutter 2019, 1711.05101) for one run of numbers that share the decay and
/// the bounds:
///   g = gradient_scale * gradient;  m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2
///   value = (1 - lr decay) value - lr (m / (1 - beta1^step)) / (sqrt(v / (1 - beta2^step)) + epsilon)
/// The value is then brought within [lowest, highest] and the gradient set to zero: each number is read and
/// written once.
struct AdamW {
  double lr = 0;
  double beta1 = 0.9, beta2 = 0.999;
  double epsilon = 1e-8;
  double decay = 0;
  Index step = 1;             ///< number of this update, from 1: for the bias correction
  double gradient_scale = 1;  ///< one over the step's tokens, times the clip factor
  Real lowest = -std::numeric_limits<Real>::infinity();
  Real highest = std::numeric_limits<Real>::infinity();
};

/// `count` numbers each.
struct AdamWSpans {
  Real* value = nullptr;
  Real* gradient = nullptr;
  Real* first_moment = nullptr;
  Real* second_moment = nullptr;
  Index count = 0;
};

void adamw(const AdamW& update, const AdamWSpans& spans);

/// The sum of squares in double, in one order for all thread counts, and how many of the numbers are NaN or
/// infinite.
struct SquaredNorm {
  double sum = 0;
  Index non_finite = 0;
};
SquaredNorm squared_norm(const Real* x, Index count);

}  // namespace tapeline::inline TAPELINE_PRECISION
