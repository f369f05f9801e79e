#include "train/flops.h"

#include <algorithm>
#include <chrono>

#include "core/kernels/gemm.h"
#include "core/tensor.h"

namespace tapeline {

double seen_pairs(Index first, Index rows, const KeyMask& keys) {
  double pairs = 0;
  for (Index row = first; row < first + rows; ++row) {
    pairs += static_cast<double>(keys.keys_seen(row, row + 1));
  }
  return pairs;
}

TokenFlops token_flops(const ModelConfig& model, Index vocabulary, Index length, const KeyMask& keys) {
  const auto width = static_cast<double>(model.width);
  const auto key_value_width = static_cast<double>(model.resolved_key_value_heads() * model.head_width());
  const auto inner = static_cast<double>(model.resolved_feed_forward_width());
  const double feed_forward = (model.activation == "swiglu" ? 3.0 : 2.0) * width * inner;
  const double layer = width * (width + 2 * key_value_width) + width * width + feed_forward;
  const auto layers = static_cast<double>(model.layers);
  TokenFlops flops;
  flops.linear = 2 * (layers * layer + width * static_cast<double>(vocabulary));
  // A query meets every key that it sees in two products of the model's width.
  flops.attention = layers * 4 * width * seen_pairs(0, length, keys) / static_cast<double>(length);
  return flops;
}

double measured_gemm_gflops(const ModelConfig& model, Index rows) {
  using Clock = std::chrono::steady_clock;
  const Index width = model.width, inner = model.resolved_feed_forward_width();
  const Storage x(Shape{rows, width}), weight(Shape{inner, width}), y(Shape{rows, inner});
  Gemm forward;  // y = x W^T
  forward.transpose_b = true;
  forward.m = rows, forward.n = inner, forward.k = width;
  forward.a = x.data(), forward.lda = width;
  forward.b = weight.data(), forward.ldb = width;
  forward.c = y.data(), forward.ldc = inner;
  Gemm input = forward;  // dx = dy W
  input.transpose_b = false;
  input.n = width, input.k = inner;
  input.a = y.data(), input.lda = inner;
  input.c = x.data(), input.ldc = width;
  Gemm weights = forward;  // dW = dy^T x
  weights.transpose_a = true, weights.transpose_b = false;
  weights.m = inner, weights.n = width, weights.k = rows;
  weights.a = y.data(), weights.lda = inner;
  weights.b = x.data(), weights.ldb = width;
  weights.c = weight.data(), weights.ldc = width;
  const auto once = [&] {
    gemm(forward);
    gemm(input);
    gemm(weights);
  };
  once();  // the libraries set themselves up
  const double operations =
      6.0 * static_cast<double>(rows) * static_cast<double>(width) * static_cast<double>(inner);
  double best = 0, spent = 0;
  while (spent < 0.05) {
    const auto start = Clock::now();
    once();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    spent += seconds;
    best = std::max(best, operations / seconds / 1e9);
  }
  return best;
}

}  // namespace tapeline
