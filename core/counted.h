#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace tapeline {

/// A number before its noun: "1 token", "0 tokens", "2 tokens"; `many`: the plural where an s does not make
/// it ("match", "matches").
template <class Integer>
std::string counted(Integer number, std::string_view one, std::string_view many = {}) {
  if (number == Integer{1}) return fmt::format("{} {}", number, one);
  return many.empty() ? fmt::format("{} {}s", number, one) : fmt::format("{} {}", number, many);
}

}  // namespace tapeline
