#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "experiments/stop_text.h"

namespace tapeline {
namespace {

struct Cut {
  std::string shown, stop;
};

/// `text` in pieces of `size` bytes.
Cut cut(const std::string& text, const std::vector<std::string>& stops, std::size_t size) {
  StopText stream(stops);
  Cut result;
  for (std::size_t at = 0; at < text.size() && stream.found().empty(); at += size) {
    result.shown += stream.push(text.substr(at, size));
  }
  result.shown += stream.finish();
  result.stop = stream.found();
  return result;
}

TEST_CASE("stop text: the text ends before the first that comes, wherever the pieces are cut") {
  struct Case {
    std::string text;
    std::vector<std::string> stops;
    std::string shown, stop;
  };
  const std::vector<Case> cases = {
      {"abcdef", {}, "abcdef", ""},
      {"abcdef", {"x"}, "abcdef", ""},
      {"abcdef", {"cd"}, "ab", "cd"},
      {"abcdef", {"abcdef"}, "", "abcdef"},
      {"abcdef", {"efg"}, "abcdef", ""},              // its beginning is the end of the text
      {"aaab", {"aab"}, "a", "aab"},                  // a beginning that was none
      {"ababac", {"abac"}, "ab", "abac"},             // one inside another
      {"one two", {"two", "ne"}, "o", "ne"},          // the first that is complete
      {"abc", {"c", "bc", "abc"}, "", "abc"},         // the longest of those complete at once
      {"abc", {"abcd", "b"}, "a", "b"},               // a longer one that has begun does not hide it
      {"a\xC3\xA9z", {"\xC3\xA9"}, "a", "\xC3\xA9"},  // two bytes
      {"x\n\ny", {"\n\n"}, "x", "\n\n"},
      {"", {"a"}, "", ""}};
  for (const Case& one : cases) {
    for (const std::size_t size : {1, 2, 3, 100}) {
      CAPTURE(one.text);
      CAPTURE(size);
      const Cut found = cut(one.text, one.stops, size);
      CHECK(found.shown == one.shown);
      CHECK(found.stop == one.stop);
    }
  }
}

TEST_CASE("stop text: only what may be its beginning is held back") {
  StopText stream({"END", "E."});
  CHECK(stream.push("ab") == "ab");
  CHECK(stream.push("cE").empty() == false);  // "c" is certain
  CHECK(stream.push("N").empty());
  CHECK(stream.push("x") == "ENx");
  CHECK(stream.push("yEN") == "y");
  CHECK(stream.push("DEND").empty());
  CHECK(stream.found() == "END");
  CHECK(stream.push("more").empty());
  CHECK(stream.finish().empty());
}

}  // namespace
}  // namespace tapeline
