#include "layers/positional/rotated_width.h"

#include <cmath>

#include "core/error.h"

namespace tapeline {

Index rotated_width(std::string_view kind, double fraction, Index head_width) {
  require<ConfigError>(fraction > 0 && fraction <= 1,
                       "positional.{}.fraction = {}; it must lie above 0 and not above 1", kind, fraction);
  const double exact = fraction * static_cast<double>(head_width);
  const auto width = static_cast<Index>(std::llround(exact));
  require<ConfigError>(width >= 2 && width % 2 == 0 && std::abs(exact - static_cast<double>(width)) < 1e-6,
                       "positional.{}.fraction = {} of a head width of {} (model.width / model.heads) is "
                       "{} features; an even whole number is needed",
                       kind, fraction, head_width, exact);
  return width;
}

Pairing parse_pairing(std::string_view text) {
  return text == "interleaved" ? Pairing::interleaved : Pairing::half;
}

}  // namespace tapeline
