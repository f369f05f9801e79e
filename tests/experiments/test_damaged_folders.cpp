#include <doctest/doctest.h>

#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/files.h"
#include "tests/experiments/shell.h"
#include "tests/support/kinds.h"
#include "tests/support/text.h"

/// Folders of comparisons that are not as tapeline left them.
namespace tapeline::test {
namespace {

namespace fs = std::filesystem;

/// A command that makes a comparison there.
std::string comparison(const std::string& folder) {
  return "$tapeline compare $small --quiet --encodings " + any_kind() + " --seeds 2 --out " + folder;
}

/// Every place at which a line begins.
std::vector<std::size_t> line_starts(const std::string& text) {
  std::vector<std::size_t> starts;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) starts.push_back(at);
  return starts;
}

TEST_CASE("a stored config.toml that was cut short or changed is refused, whatever is left of it") {
  const Shell shell;
  REQUIRE(shell(comparison("made")).code == 0);
  const fs::path file = shell.folder() / "made/config.toml";
  const std::string whole = read_file(file), results = read_file(shell.folder() / "made/results.csv");
  std::vector<std::string> spoilt = {"", "junk\n"};
  const std::vector<std::size_t> starts = line_starts(whole);
  for (std::size_t i = 1; i < starts.size(); i += 40) spoilt.push_back(whole.substr(0, starts[i]));
  std::string longer = whole;
  const std::string length = "length = 16";
  REQUIRE(contains(longer, length));
  spoilt.push_back(longer.replace(longer.find(length), length.size(), "length = 32"));
  for (const std::string& text : spoilt) {
    CAPTURE(text.size());
    shell.write("made/config.toml", text);
    check_refused(shell("$tapeline report made"), 1, {"made/config.toml\"", "cut short or changed"});
  }
  check_refused(shell("$tapeline claims made rope-extrapolates"), 1, {"made/config.toml\""});
  check_refused(shell(comparison("made")), 1, {"made/config.toml\""});
  CHECK(read_file(shell.folder() / "made/results.csv") == results);
  shell.write("made/config.toml", whole);
  CHECK(shell("$tapeline report made --quiet").code == 0);
  REQUIRE(shell("$tapeline train $small --quiet --out run").code == 0);
  check_refused(shell("sed -i '$d' run/config.toml; $tapeline train --resume --out run"), 1,
                {"run/config.toml\"", "cut short or changed"});
}

TEST_CASE("a record of a cell that is not as it was written is refused, not put into tables") {
  const Shell shell;
  REQUIRE(shell(comparison("made")).code == 0);
  const std::string cell = "made/cells/" + any_kind() + "-seed0/result.json";
  const std::string whole = read_file(shell.folder() / cell);
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"\"status\": \"ok\"", "\"status\": \"great\""},
      {"\"length\": 16", "\"length\": -1"},
      {"\"stride\": 16", "\"stride\": 0"},
      {"\"training\": \"done\"", "\"training\": \"xx\""},
      {"\"complete\": true", "\"complete\": false"},
      {"\"nll\": ", "\"nll\": 1"}};
  for (const auto& [what, with] : changes) {
    CAPTURE(with);
    std::string text = whole;
    REQUIRE(contains(text, what));
    shell.write(cell, text.replace(text.find(what), what.size(), with));
    check_refused(shell("$tapeline report made"), 1, {cell, "remove the file to evaluate this cell again"});
  }
  check_refused(shell(comparison("made")), 1, {cell});
  fs::remove(shell.folder() / cell);
  CHECK(shell(comparison("made")).code == 0);
  CHECK(shell("$tapeline report made --quiet").code == 0);
}

TEST_CASE("a stored file that is a pipe or a device is refused at once, never waited for") {
  const Shell shell;
  REQUIRE(shell(comparison("made")).code == 0);
  const std::string cell = "made/cells/" + any_kind() + "-seed0/result.json";
  for (const std::string& file :
       {std::string("made/comparison.json"), std::string("made/config.toml"), cell}) {
    for (const char* other : {"mkfifo", "ln -s /dev/zero"}) {
      CAPTURE(file);
      CAPTURE(std::string(other));
      const Ran ran = shell("mv " + file + " kept; " + other + " " + file +
                            "; timeout 60 $tapeline report made; "
                            "code=$?; rm " +
                            file + "; mv kept " + file + "; exit $code");
      check_refused(ran, 1, {file, "should be a regular file"});
    }
  }
  CHECK(shell("$tapeline report made --quiet").code == 0);
}

TEST_CASE(
    "compare: what another program left in the folder is not replaced, and nothing is written beside it") {
  const Shell shell;
  for (const char* name : {"sweep.csv", "comparison.json", "results.csv", "probes.csv", "report.html"}) {
    CAPTURE(std::string(name));
    const std::string folder = "of-others-" + std::string(name);
    check_refused(shell("mkdir " + folder + "; echo precious > " + folder + "/" + name + "; " +
                        comparison(folder) + " --sweep"),
                  2, {name, "choose another folder with --out"});
    CHECK(names_in(shell.folder() / folder) == std::set<std::string>{name});
    CHECK(read_file(shell.folder() / folder / name) == "precious\n");
  }
}

TEST_CASE("a file, a single run or a comparison where another thing is wanted is said to be one") {
  const Shell shell;
  REQUIRE(shell(comparison("made")).code == 0);
  REQUIRE(shell("$tapeline train $small --quiet --out run").code == 0);
  check_refused(shell(comparison("text.txt")), 2, {"\"text.txt\" is no folder", "--out"});
  check_refused(shell("$tapeline train $small --out text.txt"), 2, {"\"text.txt\" is no folder", "--out"});
  check_refused(shell("$tapeline report made --out text.txt"), 2, {"--out \"text.txt\" is no folder"});
  check_refused(shell("$tapeline report text.txt"), 1, {"\"text.txt\": it is no folder"});
  check_refused(shell("$tapeline claims text.txt rope-extrapolates"), 1, {"\"text.txt\": it is no folder"});
  check_refused(shell(comparison("run")), 2, {"\"run\" holds a single run"});
  check_refused(shell("$tapeline train $small --out made"), 2, {"\"made\" holds a comparison"});
}

TEST_CASE("compare --sweep: that every rate diverged is said, and none is called the best") {
  const Shell shell;
  const Ran ran = shell("$tapeline compare $small --encodings " + any_kind() +
                        " --seeds 1 --set compare.sweep=[1e30,1e35] --out wild");
  CAPTURE(ran.err);
  CHECK(ran.code == 0);
  CHECK(contains(ran.err, "every learning rate of the sweep diverged; the lowest, "));
  CHECK_FALSE(contains(ran.err, "of the lowest loss"));
  check_refused(shell(comparison("none") + " --sweep --set optimizer.lr=0"), 2,
                {"compare.sweep", "optimizer.lr"});
  check_refused(shell(comparison("none") + " --sweep --set train.steps=0"), 2,
                {"compare.sweep", "train.steps"});
}

}  // namespace
}  // namespace tapeline::test
