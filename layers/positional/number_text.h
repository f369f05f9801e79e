#pragma once

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

namespace tapeline {

/// The finite number that a text option with `number_too` spells; nullopt where it is one of its words.
inline std::optional<double> number_of_text(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc{} || read.ptr != end || !std::isfinite(number)) return std::nullopt;
  return number;
}

}  // namespace tapeline
