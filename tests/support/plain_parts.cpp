#include "tests/support/plain_parts.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tapeline::plain {
namespace {

constexpr double norm_epsilon = 1e-5;

/// Mean and 1 / sqrt(variance + epsilon) of one row.
struct RowMoments {
  RowMoments(const Numbers& x, std::size_t begin, std::size_t width) {
    const auto count = static_cast<double>(width);
    for (std::size_t c = 0; c < width; ++c) mean += x[begin + c] / count;
    double variance = 0;
    for (std::size_t c = 0; c < width; ++c) variance += std::pow(x[begin + c] - mean, 2) / count;
    inverse_deviation = 1 / std::sqrt(variance + norm_epsilon);
  }
  double mean = 0, inverse_deviation = 0;
};

double normal_distribution(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }
double normal_density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi); }

/// x becomes softmax(x); returns log sum exp of what it was.
double softmax(std::span<double> x) {
  const double largest = *std::ranges::max_element(x);
  double total = 0;
  for (const double score : x) total += std::exp(score - largest);
  for (double& score : x) score = std::exp(score - largest) / total;
  return largest + std::log(total);
}

}  // namespace

Numbers linear(const Numbers& x, const Parameter& weight, const Parameter& bias) {
  const std::size_t out = bias.value.size(), in = weight.value.size() / out, rows = x.size() / in;
  Numbers y(rows * out);
  for (std::size_t t = 0; t < rows; ++t) {
    for (std::size_t o = 0; o < out; ++o) {
      y[t * out + o] = bias.value[o];
      for (std::size_t i = 0; i < in; ++i) y[t * out + o] += weight.value[o * in + i] * x[t * in + i];
    }
  }
  return y;
}

Numbers linear_backward(const Numbers& x, const Numbers& d_y, Parameter& weight, Parameter& bias) {
  const std::size_t out = bias.value.size(), in = weight.value.size() / out, rows = x.size() / in;
  Numbers d_x(x.size());
  for (std::size_t t = 0; t < rows; ++t) {
    for (std::size_t o = 0; o < out; ++o) {
      const double d = d_y[t * out + o];
      bias.gradient[o] += d;
      for (std::size_t i = 0; i < in; ++i) {
        weight.gradient[o * in + i] += d * x[t * in + i];
        d_x[t * in + i] += d * weight.value[o * in + i];
      }
    }
  }
  return d_x;
}

Numbers layer_norm(const Numbers& x, const Parameter& gain, const Parameter& shift) {
  const std::size_t width = gain.value.size();
  Numbers y(x.size());
  for (std::size_t begin = 0; begin < x.size(); begin += width) {
    const RowMoments row(x, begin, width);
    for (std::size_t c = 0; c < width; ++c) {
      const double n = (x[begin + c] - row.mean) * row.inverse_deviation;
      y[begin + c] = gain.value[c] * n + shift.value[c];
    }
  }
  return y;
}

// With d_n = gain d_y: d_x = (d_n - mean(d_n) - n mean(d_n n)) / sqrt(variance + epsilon).
Numbers layer_norm_backward(const Numbers& x, const Numbers& d_y, Parameter& gain, Parameter& shift) {
  const std::size_t width = gain.value.size();
  const auto count = static_cast<double>(width);
  Numbers d_x(x.size());
  for (std::size_t begin = 0; begin < x.size(); begin += width) {
    const RowMoments row(x, begin, width);
    const auto normed = [&](std::size_t c) { return (x[begin + c] - row.mean) * row.inverse_deviation; };
    double mean = 0, mean_along = 0;
    for (std::size_t c = 0; c < width; ++c) {
      const double d = d_y[begin + c];
      gain.gradient[c] += d * normed(c);
      shift.gradient[c] += d;
      mean += gain.value[c] * d / count;
      mean_along += gain.value[c] * d * normed(c) / count;
    }
    for (std::size_t c = 0; c < width; ++c) {
      const double d_n = gain.value[c] * d_y[begin + c];
      d_x[begin + c] = (d_n - mean - normed(c) * mean_along) * row.inverse_deviation;
    }
  }
  return d_x;
}

Numbers gelu(const Numbers& x) {
  Numbers y(x);
  for (double& number : y) number *= normal_distribution(number);
  return y;
}

Numbers gelu_backward(const Numbers& x, const Numbers& d_y) {
  Numbers d_x(d_y);
  for (std::size_t i = 0; i < x.size(); ++i) {
    d_x[i] *= normal_distribution(x[i]) + x[i] * normal_density(x[i]);
  }
  return d_x;
}

Attended attention(const Numbers& query, const Numbers& key, const Numbers& value, const Heads& heads,
                   const Numbers& slopes) {
  const std::size_t width = heads.count * heads.width, rows = query.size() / width;
  Attended result{.out = Numbers(query.size()), .probabilities = Numbers(heads.count * rows * rows)};
  for (std::size_t h = 0; h < heads.count; ++h) {
    for (std::size_t i = 0; i < rows; ++i) {
      const std::span<double> row(&result.probabilities[(h * rows + i) * rows], i + 1);
      for (std::size_t j = 0; j <= i; ++j) {
        double product = 0;
        for (std::size_t d = h * heads.width; d < (h + 1) * heads.width; ++d) {
          product += query[i * width + d] * key[j * width + d];
        }
        row[j] =
            product / std::sqrt(static_cast<double>(heads.width)) - slopes[h] * static_cast<double>(i - j);
      }
      softmax(row);
      for (std::size_t j = 0; j <= i; ++j) {
        for (std::size_t d = h * heads.width; d < (h + 1) * heads.width; ++d) {
          result.out[i * width + d] += row[j] * value[j * width + d];
        }
      }
    }
  }
  return result;
}

// d_p(j) = d_out_i . v_j; d_score(j) = p(j) (d_p(j) - sum_m p(m) d_p(m)).
AttentionGradients attention_backward(const Numbers& query, const Numbers& key, const Numbers& value,
                                      const Heads& heads, const Numbers& probabilities,
                                      const Numbers& d_out) {
  const std::size_t width = heads.count * heads.width, rows = query.size() / width;
  const double scale = 1 / std::sqrt(static_cast<double>(heads.width));
  AttentionGradients gradients{
      .query = Numbers(query.size()), .key = Numbers(query.size()), .value = Numbers(query.size())};
  for (std::size_t h = 0; h < heads.count; ++h) {
    for (std::size_t i = 0; i < rows; ++i) {
      const double* row = &probabilities[(h * rows + i) * rows];
      Numbers d_probability(i + 1);
      double expected = 0;
      for (std::size_t j = 0; j <= i; ++j) {
        for (std::size_t d = h * heads.width; d < (h + 1) * heads.width; ++d) {
          d_probability[j] += d_out[i * width + d] * value[j * width + d];
          gradients.value[j * width + d] += row[j] * d_out[i * width + d];
        }
        expected += row[j] * d_probability[j];
      }
      for (std::size_t j = 0; j <= i; ++j) {
        const double d_product = scale * row[j] * (d_probability[j] - expected);
        for (std::size_t d = h * heads.width; d < (h + 1) * heads.width; ++d) {
          gradients.query[i * width + d] += d_product * key[j * width + d];
          gradients.key[j * width + d] += d_product * query[i * width + d];
        }
      }
    }
  }
  return gradients;
}

Numbers turned(Numbers x, const Heads& heads, double direction) {
  const std::size_t width = heads.count * heads.width, pairs = heads.width / 2;
  for (std::size_t begin = 0; begin < x.size(); begin += heads.width) {
    const auto position = static_cast<double>(begin / width);
    for (std::size_t p = 0; p < pairs; ++p) {
      const double frequency = std::pow(10000, -static_cast<double>(p) / static_cast<double>(pairs));
      const double angle = direction * position * frequency;
      double &a = x[begin + p], &b = x[begin + p + pairs];
      const double before = a;
      a = before * std::cos(angle) - b * std::sin(angle);
      b = b * std::cos(angle) + before * std::sin(angle);
    }
  }
  return x;
}

double cross_entropy(const Numbers& x, Parameter& table, std::span<const std::int32_t> targets,
                     Numbers& d_x) {
  const std::size_t width = x.size() / targets.size(), vocabulary = table.value.size() / width;
  d_x.assign(x.size(), 0);
  double total = 0;
  for (std::size_t t = 0; t < targets.size(); ++t) {
    Numbers logits(vocabulary);
    for (std::size_t s = 0; s < vocabulary; ++s) {
      for (std::size_t c = 0; c < width; ++c) logits[s] += table.value[s * width + c] * x[t * width + c];
    }
    const auto target = static_cast<std::size_t>(targets[t]);
    const double of_target = logits[target];
    total += softmax(logits) - of_target;
    for (std::size_t s = 0; s < vocabulary; ++s) {
      const double d_logit = logits[s] - (s == target ? 1 : 0);
      for (std::size_t c = 0; c < width; ++c) {
        d_x[t * width + c] += d_logit * table.value[s * width + c];
        table.gradient[s * width + c] += d_logit * x[t * width + c];
      }
    }
  }
  return total;
}

}  // namespace tapeline::plain
