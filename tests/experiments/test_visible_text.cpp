#include <doctest/doctest.h>

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>

#include "experiments/visible_text.h"
#include "tests/experiments/shell.h"

namespace tapeline::test {
namespace {

using namespace std::string_literals;

TEST_CASE("visible text: nothing that a terminal obeys is left, all else stands") {
  CHECK(visible_text("plain, \xC3\xA4\xE2\x82\xAC\n\ttext") == "plain, \xC3\xA4\xE2\x82\xAC\n\ttext");
  CHECK(visible_text("a\x1b[31mb\rc\x07\x7F"s) == "a\\u{1b}[31mb\\u{d}c\\u{7}\\u{7f}");
  CHECK(visible_text("x\0y"s) == "x\\u{0}y");
  CHECK(visible_text("\xC2\x9B"
                     "1m") == "\\u{9b}1m");                           // the same as ESC [
  CHECK(visible_text("\xC2\xA0") == "\xC2\xA0");                      // a blank, not a control character
  CHECK(visible_text("a\xFFz\xC3") == "a\xEF\xBF\xBDz\xEF\xBF\xBD");  // no UTF-8, and half a character
}

/// What a terminal gets from a script in the folder of the shell.
std::string on_a_terminal(const Shell& shell, const std::string& script) {
  shell.write("on_terminal", script);
  int master = -1;
  const pid_t child = forkpty(&master, nullptr, nullptr, nullptr);
  if (child < 0) return {};
  if (child == 0) {
    if (chdir(shell.folder().c_str()) == 0) execl("/bin/sh", "sh", "on_terminal", nullptr);
    _exit(127);
  }
  std::string seen;
  std::array<char, 4096> part{};
  for (ssize_t got = 0; (got = read(master, part.data(), part.size())) > 0;)
    seen.append(part.data(), static_cast<std::size_t>(got));
  close(master);
  int status = 0;
  waitpid(child, &status, 0);
  return seen;
}

TEST_CASE("generate: a terminal gets control characters shown, a pipe as they are") {
  const Shell shell;
  REQUIRE(shell("$tapeline train $small --quiet --out run").code == 0);
  const std::string command = "generate run --prompt \"$(printf 'let\\033[31m')\" --tokens 3 --quiet";
  CHECK(shell("$tapeline " + command).out.starts_with("let\x1b[31m"));
  const std::string seen = on_a_terminal(shell, std::string(TAPELINE_PROGRAM) + " " + command + " 2> errors");
  if (seen.empty()) {
    MESSAGE("no terminal can be had here (is /dev/pts mounted?): not tested");
    return;
  }
  CAPTURE(seen);
  CHECK(seen.starts_with("let\\u{1b}[31m"));
  CHECK_FALSE(contains(seen, "\x1b"));
}

}  // namespace
}  // namespace tapeline::test
