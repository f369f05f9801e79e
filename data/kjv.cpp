#include "data/kjv.h"

#include <algorithm>

#include "core/child_process.h"
#include "core/error.h"

namespace tapeline {
namespace {

constexpr std::ptrdiff_t verses = 31'102;
constexpr const char* remedy =
    "on Debian: apt-get install --no-install-recommends bible-kjv bible-kjv-text; or give a text of your own";

}  // namespace

std::string strip_references(std::string_view lines) {
  std::string text;
  text.reserve(lines.size());
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size() - 1);
    const std::string_view line = lines.substr(0, end + 1);  // "Ge1:1 In the beginning ...\n"
    const std::size_t space = line.find(' ');
    text += space == line.npos ? line : line.substr(space + 1);
    lines.remove_prefix(line.size());
  }
  return text;
}

std::string read_kjv() {
  const ChildResult bible = run_child({"bible", "-f", "gen1:1-rev22:21"}, "",
                                      fmt::format("the corpus \"kjv\" is read through it: {}", remedy));
  std::string text = strip_references(bible.output);
  const auto found = std::count(text.begin(), text.end(), '\n');
  require<FileError>(
      bible.status == 0 && found == verses,
      "kjv: the program \"bible\" wrote {} verses and ended with {}; {} verses and 0 were expected; "
      "{}",
      found, bible.status, verses, remedy);
  return text;
}

}  // namespace tapeline
