#pragma once

#include "core/index.h"

namespace tapeline {

/// The probability that a standard normal number is at most `z`.
double normal_probability(double z);

/// The probability that a number of Student's t distribution with `degrees` degrees of freedom is above `t`,
/// t >= 0: half the regularized incomplete beta function I_x(degrees / 2, 1 / 2) at x = degrees / (degrees +
/// t²) (Abramowitz and Stegun 1964, 26.7.1), by its continued fraction (DLMF 8.17.22, evaluated by Lentz's
/// method as in Press et al., Numerical Recipes, 3rd edition, 6.4). Throws ShapeError for degrees < 1, t < 0.
double student_upper_tail(double t, Index degrees);

/// The number that Student's t with `degrees` degrees of freedom stays below with that probability; right to
/// 1e-9 of itself. 0.975 gives the half-width of a two-sided 95 % interval. Throws ShapeError for a
/// probability outside (0, 1) and for degrees < 1.
double student_quantile(double probability, Index degrees);

}  // namespace tapeline
