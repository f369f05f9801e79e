#pragma once

#include <string>
#include <vector>

#include "experiments/compare/results.h"
#include "experiments/compare/summary.h"

namespace tapeline {

/// Whether longer windows pay at all. A model can also be kept to windows of its trained length L that move
/// on token by token; what that costs in loss is sliding(L, stride 1). One sentence: the best of those (see
/// leader_of()) against the best of the longer sliding windows, over the same targets, the difference paired
/// by seed. Empty where either was not measured, or the trained lengths differ.
std::string window_advice(const std::vector<ResultRow>& rows, const std::vector<Series>& all);

}  // namespace tapeline
