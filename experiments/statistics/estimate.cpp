#include "experiments/statistics/estimate.h"

#include <algorithm>
#include <cmath>

#include "experiments/statistics/student.h"

namespace tapeline {

Estimate estimate(const std::vector<double>& values) {
  Estimate result;
  result.count = static_cast<Index>(values.size());
  if (values.empty()) return result;
  std::vector<double> sorted = values;
  std::ranges::sort(sorted);
  const std::size_t half = sorted.size() / 2;
  result.lowest = sorted.front();
  result.highest = sorted.back();
  result.median = sorted.size() % 2 == 1 ? sorted[half] : sorted[half - 1] / 2 + sorted[half] / 2;
  const auto count = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += value;
  result.mean = sum / count;
  if (values.size() < 2) return result;
  double squares = 0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  result.half_width = student_quantile(0.975, result.count - 1) * std::sqrt(squares / (count - 1) / count);
  return result;
}

Estimate estimate_over_seeds(const BySeed& values) {
  std::vector<double> plain;
  for (const auto& [seed, value] : values) plain.push_back(value);
  return estimate(plain);
}

BySeed difference(const BySeed& a, const BySeed& b) {
  BySeed differences;
  for (const auto& [seed, value] : a) {
    if (const auto other = b.find(seed); other != b.end()) differences[seed] = value - other->second;
  }
  return differences;
}

Estimate paired_difference(const BySeed& a, const BySeed& b) { return estimate_over_seeds(difference(a, b)); }

}  // namespace tapeline
