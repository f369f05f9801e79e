#pragma once

#include <string>
#include <vector>

#include "train/evaluate.h"

namespace tapeline {

/// For people: the mean loss by position in the window of every non-overlapping evaluation of the whole set,
/// a column a length. Empty where there is none. `width`: columns of the terminal; 0: no limit.
std::string position_table(const std::vector<EvaluationResult>& results, std::size_t width);

}  // namespace tapeline
