#pragma once

#include "core/key_mask.h"
#include "layers/model_config.h"

namespace tapeline {

/// Floating-point operations (a multiplication and an addition are two) of one token: the products of linear
/// layers and head, and attention's two products over the pairs that are seen.
struct TokenFlops {
  double linear = 0;     ///< forward, linear layers and head
  double attention = 0;  ///< forward, at that window length
  double forward() const { return linear + attention; }
  /// Linear products take one more for the input and one more for the weight gradient; attention five against
  /// two.
  double training() const { return 3 * linear + 3.5 * attention; }
};
/// The mean over the tokens of a window of `length`, under the keys' mask.
TokenFlops token_flops(const ModelConfig& model, Index vocabulary, Index length, const KeyMask& keys = {});

/// Pairs of query and key that rows [first, first + rows) of a causal sequence see, these rows' own keys the
/// last ones.
double seen_pairs(Index first, Index rows, const KeyMask& keys);

/// The speed of the machine's matrix product on this model's shapes, forward and both gradients, measured for
/// a few hundredths of a second. For display: no result depends on it.
double measured_gemm_gflops(const ModelConfig& model, Index rows);

}  // namespace tapeline
