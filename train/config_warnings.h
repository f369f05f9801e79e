#pragma once

#include <string>
#include <vector>

#include "train/config.h"

namespace tapeline {

/// What is right as it stands but surely not meant, one line each: positional settings that change nothing at
/// the lengths of this configuration, or rule some of them out.
std::vector<std::string> positional_warnings(const Config& config);

/// The keys of the encoding, and of what wraps it, whose values go by the trained length of `config` because
/// they are left to it ("auto").
std::vector<std::string> keys_by_trained_length(const Config& config);

}  // namespace tapeline
