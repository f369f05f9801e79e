#pragma once

#include <string>

#include "experiments/bench/evaluate.h"

namespace tapeline {

std::string window_speeds_json(const EvaluationSpeed& speed);
/// `width` of the terminal; 0: no limit.
std::string window_speeds_text(const EvaluationSpeed& speed, std::size_t width);

}  // namespace tapeline
