#include "layers/positional/rope_scaling.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "layers/positional/frequencies.h"

namespace tapeline {

namespace {

constexpr double turn = 2 * std::numbers::pi;

/// The base under which the slowest of `pairs` frequencies is exactly `factor` times slower.
double stretched_base(double base, double factor, std::size_t pairs) {
  const double width = 2 * static_cast<double>(pairs);
  return base * std::pow(factor, width / (width - 2));
}

/// 0 up to `begin` turns, 1 from `end` turns on; a step where the two are one.
double ramp_of_turns(double turns, double begin, double end) {
  if (begin == end) return turns > begin ? 1 : 0;
  return std::clamp((turns - begin) / (end - begin), 0.0, 1.0);
}

void blend_by_turns(const RopeScaling& scaling, double begin, double end, double factor,
                    std::span<double> frequencies) {
  for (double& frequency : frequencies) {
    const double kept = ramp_of_turns(scaling.original_length * frequency / turn, begin, end);
    frequency = (1 - kept) * frequency / factor + kept * frequency;
  }
}

/// The index, not whole, of the pair that makes `turns` turns in the trained length.
double pair_of_turns(const RopeScaling& scaling, double base, double turns, double width) {
  return width * std::log(scaling.original_length / (turn * turns)) / (2 * std::log(base));
}

void blend_by_index(const RopeScaling& scaling, double base, double factor, std::span<double> frequencies) {
  const double width = 2 * static_cast<double>(frequencies.size());
  double first = pair_of_turns(scaling, base, scaling.beta_fast, width);
  double last = pair_of_turns(scaling, base, scaling.beta_slow, width);
  if (scaling.truncate) {
    first = std::floor(first);
    last = std::ceil(last);
  }
  // Pairs run to r/2 - 1 only; checkpoints were trained with the end at r - 1.
  first = std::max(first, 0.0);
  last = std::min(last, width - 1);
  last = std::max(last, first + 0.001);
  for (std::size_t p = 0; p < frequencies.size(); ++p) {
    const double kept = 1 - std::clamp((static_cast<double>(p) - first) / (last - first), 0.0, 1.0);
    frequencies[p] = (1 - kept) * frequencies[p] / factor + kept * frequencies[p];
  }
}

double growth_of_length(const RopeScaling& scaling, Index length) {
  return std::max(1.0, static_cast<double>(length) / scaling.original_length);
}

}  // namespace

double automatic_beta(double alpha, double original_length) {
  return std::max(alpha, std::min(32.0, original_length / 8));
}

bool depends_on_length(const RopeScaling& scaling) {
  switch (scaling.kind) {
    case RopeScalingKind::none:
      return false;
    case RopeScalingKind::dynamic_ntk:
    case RopeScalingKind::longrope:
      return true;
    default:
      return !scaling.factor.has_value();
  }
}

double extension_factor(const RopeScaling& scaling, Index length) {
  return scaling.factor.value_or(growth_of_length(scaling, length));
}

double rotary_factor(const RopeScaling& scaling, Index length) {
  const double factor = extension_factor(scaling, length);
  if (scaling.kind == RopeScalingKind::yarn) {
    return (factor > 1 ? 0.1 * std::log(factor) + 1 : 1) * scaling.attention_factor;
  }
  if (scaling.kind == RopeScalingKind::longrope && factor > 1) {
    return std::sqrt(1 + std::log(factor) / std::log(scaling.original_length));
  }
  return 1;
}

void rotary_frequencies(const RopeScaling& scaling, double base, Index length,
                        std::span<double> frequencies) {
  const double factor = extension_factor(scaling, length);
  const std::size_t pairs = frequencies.size();
  const bool past = static_cast<double>(length) > scaling.original_length;
  switch (scaling.kind) {
    case RopeScalingKind::ntk:
      if (factor > 1) base = stretched_base(base, factor, pairs);
      break;
    case RopeScalingKind::dynamic_ntk:
      if (past) {
        const double growth = growth_of_length(scaling, length);
        base = stretched_base(base, scaling.alpha * growth - (scaling.alpha - 1), pairs);
      }
      break;
    default:
      break;
  }
  fill_geometric(frequencies, base, static_cast<double>(pairs));
  switch (scaling.kind) {
    case RopeScalingKind::linear:
      for (double& frequency : frequencies) frequency /= factor;
      break;
    case RopeScalingKind::ntk_by_parts:
      if (factor > 1) blend_by_turns(scaling, scaling.alpha, scaling.beta, factor, frequencies);
      break;
    case RopeScalingKind::yarn:
      if (factor > 1) blend_by_index(scaling, base, factor, frequencies);
      break;
    case RopeScalingKind::llama3:
      if (factor > 1) blend_by_turns(scaling, scaling.low, scaling.high, factor, frequencies);
      break;
    case RopeScalingKind::longrope: {
      const std::vector<double>& factors = past ? scaling.long_factors : scaling.short_factors;
      for (std::size_t p = 0; p < factors.size(); ++p) frequencies[p] /= factors[p];
      break;
    }
    default:
      break;
  }
}

}  // namespace tapeline
