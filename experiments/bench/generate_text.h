#pragma once

#include <string>

#include "experiments/bench/generate.h"

namespace tapeline {

std::string generation_json(const GenerationSpeed& speed);
/// `width` of the terminal; 0: no limit.
std::string generation_text(const GenerationSpeed& speed, std::size_t width);

}  // namespace tapeline
