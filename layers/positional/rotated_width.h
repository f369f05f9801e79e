#pragma once

#include <string_view>

#include "core/index.h"
#include "core/pairing.h"

namespace tapeline {

/// The rotated features of a head: `fraction` of `head_width`, an even whole number. Throws ConfigError that
/// names positional.<kind>.fraction.
Index rotated_width(std::string_view kind, double fraction, Index head_width);

/// What a value of a key "pairing", "half" or "interleaved", means.
Pairing parse_pairing(std::string_view text);

}  // namespace tapeline
