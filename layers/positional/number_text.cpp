#include "layers/positional/number_text.h"

#include <charconv>
#include <cmath>

#include "core/error.h"
#include "core/excerpt.h"

namespace tapeline {

std::optional<double> number_of_text(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc{} || read.ptr != end || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::optional<double> number_or_word(std::string_view key, std::string_view text, std::string_view word) {
  if (text == word) return std::nullopt;
  const std::optional<double> number = number_of_text(text);
  require<ConfigError>(number.has_value(), "{} = \"{}\"; it takes {} or a number", key, excerpt(text), word);
  return number;
}

Index whole_or_auto(std::string_view key, std::string_view text, Index automatic, Index lowest) {
  if (text == "auto") return automatic;
  Index number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  require<ConfigError>(read.ec == std::errc{} && read.ptr == text.data() + text.size() && number >= lowest,
                       "{} = {}; it takes auto or a whole number of at least {}", key, excerpt(text), lowest);
  return number;
}

}  // namespace tapeline
