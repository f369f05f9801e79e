#pragma once

#include <string>

#include "experiments/bench/gemm.h"

namespace tapeline {

std::string gemm_json(const GemmSpeed& speed);
/// `width` of the terminal; 0: no limit.
std::string gemm_text(const GemmSpeed& speed, std::size_t width);

}  // namespace tapeline
