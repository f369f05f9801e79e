#pragma once

#include <optional>
#include <vector>

#include "train/evaluate.h"

namespace tapeline {

/// What of the loss at a longer length is not explained by the share of targets with little history, in nats
/// a token: NLL_nonoverlapping(kL) - (s + g / k), where L is the trained length, k = length / L, s the loss
/// of sliding windows at L with stride 1 (full history) and g = NLL_nonoverlapping(L) - s. All three are of
/// the sliding subset, so of the same targets. Near 0: tokens past L neither help nor hurt; clearly below:
/// the longer context is used. Nothing when one of the three is not among `results`.
std::optional<double> curse_only_residual(const std::vector<EvaluationResult>& results, Index trained_length,
                                          Index length);

}  // namespace tapeline
