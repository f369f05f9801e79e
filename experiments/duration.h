#pragma once

#include <string>
#include <string_view>

namespace tapeline {

/// "90s", "10m", "1.5h", "1h30m" in seconds; units h, m, s, each at most once and in this order. Throws
/// ConfigError, naming `flag`, for anything else: a number without a unit could mean any of them.
double parse_duration(std::string_view text, std::string_view flag);

/// A time as one would say it of an estimate: "3 s", "40 s", "18 min", "2.5 h", "3.2 days".
std::string rough_duration(double seconds);

}  // namespace tapeline
