#include "experiments/bench/operations.h"

#include "train/flops.h"

namespace tapeline {

double forward_flops(const ModelConfig& model, Index vocabulary, Index first, Index rows,
                     const KeyMask& mask) {
  const double linear = token_flops(model, vocabulary, 1).linear * static_cast<double>(rows);
  // A pair: a product of the width of all heads for its score, one for the output.
  return linear + 4 * static_cast<double>(model.layers * model.width) * seen_pairs(first, rows, mask);
}

}  // namespace tapeline
