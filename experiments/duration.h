#pragma once

#include <string_view>

namespace tapeline {

/// "90s", "10m", "1.5h", "1h30m" in seconds; units h, m, s, each at most once and in this order. Throws
/// ConfigError, naming `flag`, for anything else: a number without a unit could mean any of them.
double parse_duration(std::string_view text, std::string_view flag);

}  // namespace tapeline
