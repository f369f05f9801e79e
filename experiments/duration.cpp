#include "experiments/duration.h"

#include <charconv>

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

}  // namespace tapeline
