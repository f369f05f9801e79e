#pragma once

#include <string>
#include <vector>

#include "train/config.h"

namespace tapeline {

/// What is right as it stands but surely not meant, one line each: positional settings that change nothing at
/// the lengths of this configuration, or rule some of them out.
std::vector<std::string> positional_warnings(const Config& config);

}  // namespace tapeline
