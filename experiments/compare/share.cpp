#include "experiments/compare/share.h"

#include <fmt/format.h>

#include <charconv>

#include "core/error.h"
#include "core/excerpt.h"

namespace tapeline {
namespace {

/// A whole number of digits alone; 0 for anything else.
Index counted(std::string_view digits) {
  Index number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool right = error == std::errc() && end == digits.data() + digits.size() && !digits.empty();
  return right && digits.front() != '-' ? number : 0;
}

}  // namespace

std::string Share::text() const { return fmt::format("{}/{}", number, of); }

Share parse_share(std::string_view text, std::string_view flag) {
  const std::size_t slash = text.find('/');
  Share share{0, 0};
  if (slash != std::string_view::npos)
    share = {counted(text.substr(0, slash)), counted(text.substr(slash + 1))};
  require<ConfigError>(share.number >= 1 && share.number <= share.of,
                       "{} \"{}\": give which share this is, counted from 1, and how many there are: 2/3",
                       flag, excerpt(text));
  return share;
}

}  // namespace tapeline
