#pragma once

#include <string>

#include "experiments/bench/attention.h"

namespace tapeline {

std::string attention_json(const AttentionSpeeds& speeds);
/// `width` of the terminal; 0: no limit.
std::string attention_text(const AttentionSpeeds& speeds, std::size_t width);

}  // namespace tapeline
