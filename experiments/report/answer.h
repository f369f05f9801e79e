#pragma once

#include <string>
#include <vector>

#include "experiments/compare/comparison.h"
#include "experiments/compare/summary.h"

namespace tapeline {

/// The answer of a comparison in a few sentences: which variant does best at the longest length that all were
/// evaluated at and how sure that is, how many models diverged, what became of each of the others, which
/// could not go there at all.
std::string answer_text(const Comparison& comparison, const std::vector<Series>& all);

}  // namespace tapeline
