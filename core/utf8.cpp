#include "core/utf8.h"

#include <fmt/format.h>

namespace tapeline {
namespace {

struct ByteRange {
  unsigned char lowest = 0x80, highest = 0xBF;
};

// The bytes that may follow this first one: Unicode's table 3-7 excludes overlong forms, surrogates and what
// lies beyond U+10FFFF by narrowing the second byte.
ByteRange second_byte(unsigned char first) {
  switch (first) {
    case 0xE0:
      return {0xA0, 0xBF};
    case 0xED:
      return {0x80, 0x9F};
    case 0xF0:
      return {0x90, 0xBF};
    case 0xF4:
      return {0x80, 0x8F};
    default:
      return {};
  }
}

}  // namespace

Utf8Front utf8_front(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const std::size_t length = first < 0x80                     ? 1
                             : first >= 0xC2 && first <= 0xDF ? 2
                             : first >= 0xE0 && first <= 0xEF ? 3
                             : first >= 0xF0 && first <= 0xF4 ? 4
                                                              : 0;
  if (length == 0) return {Utf8Front::invalid, 1};
  // The first byte of n has n + 1 bits of mark in front, and none when it stands alone.
  char32_t code = length == 1 ? first : first & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (i == text.size()) return {Utf8Front::incomplete, i};
    const ByteRange range = i == 1 ? second_byte(first) : ByteRange{};
    if (byte(i) < range.lowest || byte(i) > range.highest) return {Utf8Front::invalid, i};
    code = (code << 6) | (byte(i) & 0x3Fu);
  }
  return {Utf8Front::character, length, code};
}

int utf8_length(char32_t code) { return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4; }

void append_utf8(std::string& text, char32_t code) {
  const int length = utf8_length(code);
  if (length == 1) {
    text += static_cast<char>(code);
    return;
  }
  text += static_cast<char>((0xF00u >> length) | (code >> (6 * (length - 1))));
  for (int i = length - 2; i >= 0; --i) text += static_cast<char>(0x80u | ((code >> (6 * i)) & 0x3Fu));
}

std::string character_name(char32_t code) {
  const std::string number = fmt::format("U+{:04X}", static_cast<unsigned>(code));
  const bool control = code < 0x20 || (code >= 0x7F && code < 0xA0);
  if (control) return number;
  std::string shown;
  append_utf8(shown, code);
  return fmt::format("\"{}\" ({})", shown, number);
}

}  // namespace tapeline
