#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// The parts of a Transformer as plain loops in double, each with its backward written by hand. They take
/// nothing from the code under test. One window at a time: T rows of C numbers, C = heads x D, row-major.
/// A backward gets d_y, the gradient of the summed loss by y; it returns the gradient by x and adds those of
/// the parameters to theirs.
namespace tapeline::plain {

using Numbers = std::vector<double>;

/// A trained tensor, and the gradient of the summed loss by it.
struct Parameter {
  Numbers value, gradient;
};

/// y[t, o] = bias[o] + sum_i weight[o, i] x[t, i]: x [T, in], weight [out, in], y [T, out].
Numbers linear(const Numbers& x, const Parameter& weight, const Parameter& bias);
Numbers linear_backward(const Numbers& x, const Numbers& d_y, Parameter& weight, Parameter& bias);

/// y[t, c] = gain[c] n[t, c] + shift[c], n[t, c] = (x[t, c] - mean_t) / sqrt(variance_t + 1e-5).
Numbers layer_norm(const Numbers& x, const Parameter& gain, const Parameter& shift);
Numbers layer_norm_backward(const Numbers& x, const Numbers& d_y, Parameter& gain, Parameter& shift);

/// y = x Phi(x), Phi the standard normal distribution function; its slope is Phi(x) + x phi(x).
Numbers gelu(const Numbers& x);
Numbers gelu_backward(const Numbers& x, const Numbers& d_y);

/// How the C numbers of a row are cut into heads: head h has those from h D on.
struct Heads {
  std::size_t count = 1, width = 1;
};

/// out [T, C], and the probabilities [H, T, T] that it is mixed with.
struct Attended {
  Numbers out, probabilities;
};
struct AttentionGradients {
  Numbers query, key, value;
};

/// score(h, i, j) = q_i . k_j / sqrt(D) - slopes[h] (i - j) for j <= i; each row of probabilities is the
/// softmax of its scores, and out_i = sum_j probability(h, i, j) v_j. All [T, C]; slopes [H].
Attended attention(const Numbers& query, const Numbers& key, const Numbers& value, const Heads& heads,
                   const Numbers& slopes);
AttentionGradients attention_backward(const Numbers& query, const Numbers& key, const Numbers& value,
                                      const Heads& heads, const Numbers& probabilities, const Numbers& d_out);

/// Rotary positions: in every head the pair (a, b) = (x[p], x[p + D/2]) of row t is turned by the angle
/// direction t 10000^(-2p/D): (a cos - b sin, b cos + a sin). The backward is the turn in direction -1.
Numbers turned(Numbers x, const Heads& heads, double direction);

/// The sum over the rows of -log softmax(table x_t)[target_t], in nats: x [T, C], table [V, C]. `d_x` becomes
/// the gradient by x.
double cross_entropy(const Numbers& x, Parameter& table, std::span<const std::int32_t> targets, Numbers& d_x);

}  // namespace tapeline::plain
