#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "experiments/bench/step.h"

namespace tapeline {

/// A step with all that was found of it.
nlohmann::ordered_json step_object(const StepSpeed& speed);
std::string step_json(const StepSpeed& speed);
/// The floor, the ops, then the step as a whole. `width` of the terminal; 0: no limit.
std::string step_text(const StepSpeed& speed, const StepTrace& trace, std::size_t width);

/// A list: each encoding as step_json() has it, with its name and its ratio over "none".
std::string encodings_json(const std::vector<StepSpeed>& speeds);
std::string encodings_text(const std::vector<StepSpeed>& speeds, std::size_t width);

}  // namespace tapeline
