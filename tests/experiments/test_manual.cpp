#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "experiments/commands/manual_pages.h"
#include "experiments/commands/program.h"
#include "tests/experiments/shell.h"
#include "train/config_table.h"

namespace tapeline::test {
namespace {

/// As man(7) writes it.
std::string written(std::string text) {
  for (std::size_t at = text.find('-'); at != std::string::npos; at = text.find('-', at + 2))
    text.insert(at, "\\");
  return text;
}

TEST_CASE("manual: a page for the program, every command and every key") {
  const Program program = tapeline_program();
  const std::vector<ManualPage> pages = manual_pages(program);
  REQUIRE(pages.size() == program.commands.size() + 2);
  CHECK(pages.front().file_name() == "man1/tapeline.1");
  CHECK(pages.back().file_name() == "man5/tapeline-config.5");
  for (std::size_t i = 0; i < program.commands.size(); ++i) {
    const Command& command = program.commands[i];
    CAPTURE(command.name);
    CHECK(pages[i + 1].file_name() == "man1/tapeline-" + command.name + ".1");
    CHECK(contains(pages.front().text(), ".TP\n\\fB" + command.name + "\\fR\n"));
    CHECK_FALSE(command.details.empty());
    for (const Option& option : command.options) {
      CAPTURE(option.name);
      CHECK(contains(pages[i + 1].text(), written(option.long_name())));
    }
  }
  for (const ConfigKey& key : config_keys()) {
    CAPTURE(key.name);
    CHECK(contains(pages.back().text(), "\\fB" + key.name + "\\fR\n"));
  }
}

TEST_CASE("manual: the lists of a comparison are told") {
  const std::string page = manual_pages(tapeline_program()).back().text();
  CHECK(contains(page, "[[compare.variant]]"));
  CHECK(contains(page, "[[compare.evaluation]]"));
  CHECK(contains(page, "left out: every variant whose encoding has the keys"));
}

TEST_CASE("manual: no text is taken for a request") {
  ManualPage page("odd", 1, "odd 1", "a line with a \\ and a - in it");
  page.paragraph(".TH is no request here").verbatim({"'quoted'", "a\\nb"}).entry("--x", "\"y\"");
  CHECK(contains(page.text(), "odd \\- a line with a \\e and a \\- in it\n"));
  CHECK(contains(page.text(), "\n\\&.TH is no request here\n"));
  CHECK(contains(page.text(), "\n\\&'quoted'\na\\enb\n"));
  CHECK(contains(page.text(), "\\fB\\-\\-x\\fR\n\"y\"\n"));
}

TEST_CASE("manual: printed, or written as a folder for man(1), which has nothing to complain of") {
  const Shell shell;
  CHECK(shell("$tapeline manual").out.starts_with(".TH \"TAPELINE\" 1 "));
  CHECK(shell("$tapeline manual train").out.starts_with(".TH \"TAPELINE\\-TRAIN\" 1 "));
  const Ran none = shell("$tapeline manual trian");
  CHECK(none.code == 2);
  CHECK(one_line(none.err));
  CHECK(contains(none.err, "there is no page \"trian\""));
  CHECK(shell("$tapeline manual --out share/man").code == 0);
  CHECK(names_in(shell.folder() / "share" / "man") == std::set<std::string>{"man1", "man5"});
  CHECK(shell("touch file; $tapeline manual --out file").code == 1);
  if (shell("command -v groff").code != 0) {
    MESSAGE("skipped: groff is not installed");
    return;
  }
  const Ran checked = shell("for page in share/man/man?/*; do groff -man -ww -Tascii -P-cbou $page; done");
  CHECK(checked.code == 0);
  CHECK(checked.err == "");
  CHECK(contains(checked.out, "NAME\n       tapeline-train "));
}

}  // namespace
}  // namespace tapeline::test
