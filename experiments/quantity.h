#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>

#include "train/progress.h"

namespace tapeline {

/// A number in three significant digits before its unit, a prefix with the unit: "7.38 TFLOP", "215 MB",
/// "950 B".
inline std::string quantity(double value, std::string_view unit) {
  if (!std::isfinite(value)) return fmt::format("{} {}", value, unit);
  const std::string number = short_number(value);
  const std::size_t digits = number.find_first_of("kMGT");
  if (digits == std::string::npos) return fmt::format("{} {}", number, unit);
  return fmt::format("{} {}{}", number.substr(0, digits), number.substr(digits), unit);
}

}  // namespace tapeline
