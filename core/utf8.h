#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tapeline {

/// What the first bytes of a text are, read as UTF-8 (Unicode, table 3-7: no overlong forms, no surrogates,
/// nothing past U+10FFFF).
struct Utf8Front {
  enum Kind { character, incomplete, invalid } kind;
  std::size_t bytes;  ///< of the character, or of the part that is none; at least 1
  char32_t code = 0;  ///< of the character
};

/// `text` must not be empty. "incomplete": the text ends within what may become a character.
Utf8Front utf8_front(std::string_view text);

/// How many bytes the character takes: 1 to 4.
int utf8_length(char32_t code);
void append_utf8(std::string& text, char32_t code);

/// How a message names a character: "ö" (U+00F6), or U+0007 alone for one that cannot be shown.
std::string character_name(char32_t code);

}  // namespace tapeline
