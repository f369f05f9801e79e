#include "experiments/bench/operations.h"

#include <algorithm>

#include "train/flops.h"

namespace tapeline {

double seen_pairs(Index first, Index rows, const KeyMask& mask) {
  double pairs = 0;
  for (Index row = first; row < first + rows; ++row) {
    const Index keys = row + 1;
    pairs += static_cast<double>(mask.window == 0 ? keys : std::min(keys, mask.window + mask.sinks));
  }
  return pairs;
}

double forward_flops(const ModelConfig& model, Index vocabulary, Index first, Index rows,
                     const KeyMask& mask) {
  const double linear = token_flops(model, vocabulary, 1).linear * static_cast<double>(rows);
  // A pair: a product of the width of all heads for its score, one for the output.
  return linear + 4 * static_cast<double>(model.layers * model.width) * seen_pairs(first, rows, mask);
}

}  // namespace tapeline
