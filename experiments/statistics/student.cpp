#include "experiments/statistics/student.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "core/error.h"

namespace tapeline {
namespace {

/// A denominator of Lentz's method, kept away from 0.
double away_from_zero(double value) {
  constexpr double tiny = 1e-300;
  return std::abs(value) < tiny ? tiny : value;
}

/// The continued fraction of I_x(a, b); converges fast for x < (a + 1) / (a + b + 2).
double beta_fraction(double x, double a, double b) {
  constexpr int most = 100000;
  constexpr double close = 4 * std::numeric_limits<double>::epsilon();
  double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), value = d;
  for (int m = 1; m <= most; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    value *= c * d;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    const double factor = c * d;
    value *= factor;
    if (std::abs(factor - 1) < close) break;
  }
  return value;
}

/// I_x(a, b) with `rest` = 1 - x, given apart so that neither is lost near 0 or 1.
double incomplete_beta(double x, double rest, double a, double b) {
  if (x <= 0) return 0;
  if (rest <= 0) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incomplete_beta(rest, x, b, a);
  const double log_front =
      std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log(rest);
  return std::exp(log_front) / a * beta_fraction(x, a, b);
}

}  // namespace

double normal_probability(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

double student_upper_tail(double t, Index degrees) {
  require<ShapeError>(degrees >= 1, "Student's t: {} degrees of freedom; at least 1", degrees);
  require<ShapeError>(t >= 0, "Student's t: the tail above {}; at least 0", t);
  const auto nu = static_cast<double>(degrees);
  const double squares = nu + t * t;
  return 0.5 * incomplete_beta(nu / squares, t * t / squares, nu / 2, 0.5);
}

double student_quantile(double probability, Index degrees) {
  require<ShapeError>(probability > 0 && probability < 1,
                      "Student's t: the quantile of probability {}; it must lie between 0 and 1",
                      probability);
  if (probability < 0.5) return -student_quantile(1 - probability, degrees);
  const double tail = 1 - probability;
  // The tail falls as t rises: a bracket, then halves of it down to neighbouring numbers.
  double low = 0, high = 1;
  while (student_upper_tail(high, degrees) > tail) {
    low = high;
    high *= 2;
  }
  while (true) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return high;
    (student_upper_tail(middle, degrees) > tail ? low : high) = middle;
  }
}

}  // namespace tapeline
