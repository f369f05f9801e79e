#pragma once

#include <string>
#include <vector>

#include "experiments/compare/comparison.h"
#include "experiments/compare/summary.h"

namespace tapeline {

/// The answer of a comparison in a few sentences: which encoding does best at the longest length and how sure
/// that is, what became of each of the others, which could not go there at all.
std::string answer_text(const Comparison& comparison, const std::vector<Series>& all);

/// "bytes", or "tokens" where a token is not a byte.
std::string token_unit(const Comparison& comparison);

}  // namespace tapeline
