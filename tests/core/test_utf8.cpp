#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "core/utf8.h"

using namespace tapeline;

TEST_CASE("utf8: every character there is goes out and comes back") {
  for (char32_t code = 0; code <= 0x10FFFF; ++code) {
    if (code == 0xD800) code = 0xE000;
    std::string text;
    append_utf8(text, code);
    const Utf8Front front = utf8_front(text);
    if (front.kind == Utf8Front::character && front.code == code && front.bytes == text.size() &&
        utf8_length(code) == static_cast<int>(text.size()))
      continue;
    FAIL(fmt::format("U+{:X}", static_cast<unsigned>(code)));
  }
}

TEST_CASE("utf8: overlong forms, surrogates, what lies past U+10FFFF and lone bytes are no characters") {
  for (const std::string_view text :
       {"\x92", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
        "\xF4\x90\x80\x80", "\xF5\x80", "\xFF", "\xC3(", "\xE2\x82(", "\x80"}) {
    CHECK(utf8_front(text).kind == Utf8Front::invalid);
  }
  for (const std::string_view text : {"\xC3", "\xE2\x82", "\xF0\x9F\x98"}) {
    CHECK(utf8_front(text).kind == Utf8Front::incomplete);
    CHECK(utf8_front(text).bytes == text.size());
  }
  CHECK(utf8_front("\xE2\x82(").bytes == 2);
}

TEST_CASE("utf8: how a message names a character") {
  CHECK(character_name(U'd') == "\"d\" (U+0064)");
  CHECK(character_name(0x1F600) == "\"\xF0\x9F\x98\x80\" (U+1F600)");
  CHECK(character_name(7) == "U+0007");
  CHECK(character_name(0x85) == "U+0085");
}
