#include <doctest/doctest.h>

#include <string>

#include "experiments/utf8_stream.h"

namespace tapeline {
namespace {

const std::string replaced = "\xEF\xBF\xBD";

TEST_CASE("UTF-8 stream: byte by byte, nothing is shown before it is whole") {
  const std::string text = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x8C\x8D";  // 1, 2, 3 and 4 bytes
  Utf8Stream stream;
  std::string shown;
  for (const char byte : text) {
    shown += stream.push(std::string(1, byte));
    CHECK(valid_utf8(shown) == shown);
  }
  CHECK(shown == text);
  CHECK(stream.finish().empty());
}

TEST_CASE("UTF-8 stream: bytes that are no character") {
  CHECK(valid_utf8("a\x92z") == "a" + replaced + "z");
  CHECK(valid_utf8("\xC3") == replaced);
  CHECK(valid_utf8("\xE2\x82") == replaced);
  CHECK(valid_utf8("\xE2\x82z") == replaced + "z");
  CHECK(valid_utf8("\xC0\xAF") == replaced + replaced);                                // overlong
  CHECK(valid_utf8("\xED\xA0\x80") == replaced + replaced + replaced);                 // a surrogate
  CHECK(valid_utf8("\xF4\x90\x80\x80") == replaced + replaced + replaced + replaced);  // past U+10FFFF
  CHECK(valid_utf8("\xFF\xFE") == replaced + replaced);
  CHECK(valid_utf8("").empty());
}

TEST_CASE("UTF-8 stream: a character cut off by another one") {
  Utf8Stream stream;
  CHECK(stream.push("\xE2\x82").empty());
  CHECK(stream.push("ok") == replaced + "ok");
  CHECK(stream.finish().empty());
}

}  // namespace
}  // namespace tapeline
