#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tapeline {

/// The start of a text that came from outside, fit to stand in a message: at most `longest` bytes, never half
/// a UTF-8 character, "…" where something was left off, control characters as spaces.
inline std::string excerpt(std::string_view text, std::size_t longest = 80) {
  std::size_t end = text.size();
  if (end > longest) {
    end = longest;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  }
  std::string shown(text.substr(0, end));
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  return end < text.size() ? shown + "…" : shown;
}

}  // namespace tapeline
