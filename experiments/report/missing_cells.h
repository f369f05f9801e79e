#pragma once

#include <string>
#include <vector>

#include "experiments/compare/comparison.h"

namespace tapeline {

/// The models that belong to a comparison and have not been trained and evaluated yet, in the order of the
/// plan: "rope, seed 2".
std::vector<std::string> missing_cells(const Comparison& comparison);

/// "2 of 15 models are not there yet (rope, seed 2; alibi, seed 2): …"; empty when all are.
std::string missing_text(const Comparison& comparison);

}  // namespace tapeline
