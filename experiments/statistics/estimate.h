#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "core/index.h"

namespace tapeline {

/// A mean over seeds, with the half-width of its 95 % t-interval; one seed has no interval (NaN), never one
/// of width zero. Median and range say more than the mean where single seeds have run away.
struct Estimate {
  Index count = 0;
  double mean = std::numeric_limits<double>::quiet_NaN();
  double half_width = std::numeric_limits<double>::quiet_NaN();
  double median = std::numeric_limits<double>::quiet_NaN();  ///< of an even count: between the middle two
  double lowest = std::numeric_limits<double>::quiet_NaN();
  double highest = std::numeric_limits<double>::quiet_NaN();

  double lower() const { return mean - half_width; }  ///< limits of the interval; NaN without one
  double upper() const { return mean + half_width; }
};

/// A half-width of an interval on a logarithm above which seeds scatter so widely (single ones have run away)
/// that the mean says little of them: median and range are told then.
inline constexpr double widely_scattered = 0.1;

/// mean ± t · s / √n, where s is the standard deviation with n - 1 and t the 0.975 quantile of Student's t
/// with n - 1 degrees of freedom. Without values everything is NaN.
Estimate estimate(const std::vector<double>& values);

/// One number a seed.
using BySeed = std::map<std::uint64_t, double>;

Estimate estimate_over_seeds(const BySeed& values);

/// a - b of every seed that both have. Models of one seed have equal initial weights and batches, so what is
/// common to them falls out of the difference.
BySeed difference(const BySeed& a, const BySeed& b);

/// The mean of a - b over the seeds that both have, with the t-interval of the differences.
Estimate paired_difference(const BySeed& a, const BySeed& b);

}  // namespace tapeline
