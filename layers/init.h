#pragma once

#include "core/parameter.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// Standard deviation of a fresh weight or table entry (GPT-2: Radford et al. 2019).
inline constexpr double initial_deviation = 0.02;

/// Independent N(0, deviation^2), element i being number i of the stream of the parameter's own key.
Initializer normal(double deviation = initial_deviation);
Initializer zeros();
Initializer ones();

/// The deviation of a weight whose product is added to the residual stream: 0.02 / sqrt(2 * layers), so that
/// the stream's variance at the end does not grow with depth (GPT-2).
double residual_deviation(Index layers);

}  // namespace tapeline::inline TAPELINE_PRECISION
