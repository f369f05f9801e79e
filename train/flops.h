#pragma once

#include "layers/model_config.h"

namespace tapeline {

/// Floating-point operations (a multiplication and an addition are two) of one token: the products of linear
/// layers and head, and attention's two products over the causal half only.
struct TokenFlops {
  double linear = 0;     ///< forward, linear layers and head
  double attention = 0;  ///< forward, at that window length
  double forward() const { return linear + attention; }
  /// Linear products take one more for the input and one more for the weight gradient; attention five against
  /// two.
  double training() const { return 3 * linear + 3.5 * attention; }
};
TokenFlops token_flops(const ModelConfig& model, Index vocabulary, Index length);

/// The speed of the machine's matrix product on this model's shapes, forward and both gradients, measured for
/// a few hundredths of a second. For display: no result depends on it.
double measured_gemm_gflops(const ModelConfig& model, Index rows);

}  // namespace tapeline
