#include "experiments/utf8_stream.h"

#include <algorithm>
#include <cstddef>

namespace tapeline {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

// What the first bytes of a text are.
struct Head {
  enum Kind { complete, incomplete, invalid } kind;
  std::size_t bytes;  // of the character, or of the part that is no character
};

struct Range {
  unsigned char lowest = 0x80, highest = 0xBF;
};

// The bytes that may follow this first one: Unicode's table 3-7 excludes overlong forms, surrogates and what
// lies beyond U+10FFFF by narrowing the second byte.
Range second_byte(unsigned char first) {
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

Head head_of(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const std::size_t length = first < 0x80                     ? 1
                             : first >= 0xC2 && first <= 0xDF ? 2
                             : first >= 0xE0 && first <= 0xEF ? 3
                             : first >= 0xF0 && first <= 0xF4 ? 4
                                                              : 0;
  if (length == 0) return {Head::invalid, 1};
  for (std::size_t i = 1; i < length; ++i) {
    if (i == text.size()) return {Head::incomplete, i};
    const Range range = i == 1 ? second_byte(first) : Range{};
    if (byte(i) < range.lowest || byte(i) > range.highest) return {Head::invalid, i};
  }
  return {Head::complete, length};
}

}  // namespace

std::string Utf8Stream::push(std::string_view bytes) {
  held_ += bytes;
  std::string text;
  std::string_view rest = held_;
  while (!rest.empty()) {
    const Head head = head_of(rest);
    if (head.kind == Head::incomplete) break;
    text += head.kind == Head::complete ? rest.substr(0, head.bytes) : replacement;
    rest.remove_prefix(head.bytes);
  }
  held_.erase(0, held_.size() - rest.size());
  return text;
}

std::string Utf8Stream::finish() {
  if (held_.empty()) return {};
  held_.clear();
  return std::string(replacement);
}

std::string valid_utf8(std::string_view bytes) {
  Utf8Stream stream;
  std::string text = stream.push(bytes);
  return text + stream.finish();
}

}  // namespace tapeline
