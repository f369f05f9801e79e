#pragma once

#include <cmath>
#include <numbers>

#include "tests/support/plain_transformer.h"

/// The updates of a training run as plain loops in double.
namespace tapeline::plain {

/// The rate of update t = 1 ... n: peak t / w up to update w; then, with p = (t - w) / (n - w) of the fall
/// done, peak (floor + (1 - floor) (1 + cos(pi p)) / 2).
inline double cosine_rate(double t, double w, double n, double peak, double floor) {
  if (t < w) return peak * t / w;
  return peak * (floor + (1 - floor) * (1 + std::cos(std::numbers::pi * (t - w) / (n - w))) / 2);
}

/// AdamW on gradients that are clipped as one vector. With g the summed gradient over `tokens`, times
/// clip / |g| where the norm |g| of all is above clip:
///   m = beta_1 m + (1 - beta_1) g;  v = beta_2 v + (1 - beta_2) g^2
///   x = x - rate (decay x + m / (1 - beta_1^t) / (sqrt(v / (1 - beta_2^t)) + epsilon))
/// Only weights of products and the token table decay: the names that end in "weight".
struct AdamW {
  double beta_1, beta_2, epsilon, decay, clip;
  int updates = 0;
  std::map<std::string, Numbers> first_moments = {}, second_moments = {};

  /// Makes one update and sets the gradients to zero; returns the norm before clipping.
  double update(Parameters& parameters, double rate, double tokens) {
    double squares = 0;
    for (const auto& [name, parameter] : parameters) {
      for (const double d : parameter.gradient) squares += d / tokens * (d / tokens);
    }
    const double norm = std::sqrt(squares), factor = norm > clip ? clip / norm : 1;
    ++updates;
    for (auto& [name, parameter] : parameters) {
      Numbers &m = first_moments[name], &v = second_moments[name];
      m.resize(parameter.value.size());
      v.resize(parameter.value.size());
      const double decayed = name.ends_with("weight") ? decay : 0;
      for (std::size_t i = 0; i < m.size(); ++i) {
        const double g = factor * parameter.gradient[i] / tokens;
        m[i] = beta_1 * m[i] + (1 - beta_1) * g;
        v[i] = beta_2 * v[i] + (1 - beta_2) * g * g;
        const double mean = m[i] / (1 - std::pow(beta_1, updates)),
                     square = v[i] / (1 - std::pow(beta_2, updates));
        parameter.value[i] -= rate * (decayed * parameter.value[i] + mean / (std::sqrt(square) + epsilon));
        parameter.gradient[i] = 0;
      }
    }
    return norm;
  }
};

}  // namespace tapeline::plain
