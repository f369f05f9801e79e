#pragma once

#include <string>

#include "experiments/bench/scaling.h"

namespace tapeline {

/// Both steps as step_json() has them, and what is gained.
std::string scaling_json(const ThreadScaling& scaling);
std::string scaling_text(const ThreadScaling& scaling, std::size_t width);

}  // namespace tapeline
