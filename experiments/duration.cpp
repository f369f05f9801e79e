#include "experiments/duration.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/error.h"
#include "core/excerpt.h"

namespace tapeline {

double parse_duration(std::string_view text, std::string_view flag) {
  constexpr std::string_view units = "hms";
  constexpr double seconds[] = {3600, 60, 1};
  double sum = 0;
  std::size_t next = 0;  // the first unit that may still come
  std::string_view rest = text;
  bool right = !rest.empty();
  while (right && !rest.empty()) {
    double number = 0;  // from_chars, unlike strtod, reads a point in every locale
    const auto [end, error] =
        std::from_chars(rest.data(), rest.data() + rest.size(), number, std::chars_format::fixed);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    const std::size_t unit = rest.empty() ? units.npos : units.find(rest.front(), next);
    right = error == std::errc() && number >= 0 && unit != units.npos;
    if (!right) break;
    sum += number * seconds[unit];
    next = unit + 1;
    rest.remove_prefix(1);
  }
  // A century, so that no sum of clocks overflows.
  require<ConfigError>(right && sum > 0 && sum < 3.2e9,
                       "{} \"{}\" is no time; give hours, minutes or seconds: 90s, 10m, 1h30m", flag,
                       excerpt(text));
  return sum;
}

std::string rough_duration(double seconds) {
  if (seconds < 9.5) return fmt::format("{:.0f} s", std::max(1.0, seconds));
  if (seconds < 95) return fmt::format("{:.0f} s", std::round(seconds / 10) * 10);
  if (seconds < 99.5 * 60) return fmt::format("{:.0f} min", seconds / 60);
  if (seconds < 36 * 3600) return fmt::format("{:.1f} h", seconds / 3600);
  return fmt::format("{:.1f} days", seconds / 86400);
}

}  // namespace tapeline
