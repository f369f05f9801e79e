#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "core/files.h"
#include "tests/experiments/shell.h"

namespace tapeline {
namespace {

using namespace test;
namespace fs = std::filesystem;

/// A comparison of two encodings and two seeds, a few steps each, in the folder "made".
const std::string compare =
    "$tapeline compare --text text.txt $model --set train.steps=3 --encodings rope,learned --seeds 2 --quiet "
    "--out ";

TEST_CASE("tapeline report: the same page again, also elsewhere, with the tables; what is missing is told") {
  const Shell shell;
  const fs::path made = shell.folder() / "made";
  REQUIRE(shell(compare + "made").code == 0);
  const std::string page = read_file(made / "report.html"), results = read_file(made / "results.csv");

  fs::remove(made / "report.html");
  fs::remove_all(made / "figures");
  const Ran again = shell("$tapeline report made");
  CHECK(again.code == 0);
  CHECK(again.err.empty());
  CHECK(contains(again.out, "report: made/report.html"));
  CHECK(contains(again.out, "Trained on windows of 16 bytes"));
  CHECK(read_file(made / "report.html") == page);
  CHECK(fs::exists(made / "figures" / "loss_by_length.svg"));
  CHECK(read_file(made / "results.csv") == results);

  const Ran elsewhere = shell("$tapeline report made --out copy --json");
  CHECK(elsewhere.code == 0);
  const nlohmann::json json = nlohmann::json::parse(elsewhere.out);
  CHECK(json["report"] == "copy/report.html");
  CHECK(json["models"] == 4);
  CHECK(json["missing"].empty());
  CHECK(contains(json["answer"], "Trained on windows of 16 bytes"));
  CHECK(json["figures"].size() >= 3);
  CHECK(read_file(shell.folder() / "copy" / "report.html") == page);
  CHECK(read_file(shell.folder() / "copy" / "results.csv") == results);
  CHECK(read_file(shell.folder() / "copy" / "positions.csv") == read_file(made / "positions.csv"));
  CHECK(shell("$tapeline report made --out copy --quiet").code == 0);  // a report may be replaced

  fs::remove(made / "cells" / "learned-seed1" / "result.json");
  const Ran partial = shell("$tapeline report made");
  CHECK(partial.code == 0);
  CHECK(contains(partial.err, "Not complete: 1 of 4 models is not there yet (learned, seed 1)"));
  CHECK(contains(read_file(made / "report.html"), "Not complete: 1 of 4 models"));
}

TEST_CASE("tapeline report: several folders need a place for the whole; nothing of others is replaced") {
  const Shell shell;
  REQUIRE(shell(compare + "a").code == 0);
  REQUIRE(shell(compare + "b --seed 2").code == 0);
  check_refused(shell("$tapeline report a b"), 2, {"2 folders are put together", "--out DIR"});
  check_refused(shell("$tapeline report a b --out ./b"), 2, {"is one of the folders that are put together"});
  const Ran both = shell("$tapeline report a b --out both");
  CHECK(both.code == 0);
  CHECK(contains(both.out, "4 seeds"));
  const std::string results = read_file(shell.folder() / "both" / "results.csv");
  CHECK(contains(results, "\nrope,rope,trained,0,"));
  CHECK(contains(results, "\nlearned,learned,trained,3,"));
  // Seeds that do not follow one another, in a merged page that tells how it is made again.
  REQUIRE(shell(compare + "c --seed 7").code == 0);
  const Ran gap = shell("$tapeline report a c --out gap");
  CHECK(gap.code == 0);
  CHECK(gap.err.empty());
  const std::string gap_page = read_file(shell.folder() / "gap" / "report.html");
  CHECK_FALSE(contains(gap_page, "Not complete"));
  CHECK(contains(gap_page, "--seed 7 --seeds 2 --out seeds-7"));
  CHECK(contains(gap_page, "tapeline report a c --out gap"));
  CHECK_FALSE(contains(gap_page, "holds config.toml"));
  for (const char* command : {"report", "claims"}) {
    check_refused(shell(std::string("$tapeline ") + command + " ./gap"), 1,
                  {"holds a report alone", "name the folders that it was made from"});
  }
  CHECK(shell("$tapeline report a c --out gap --quiet").code == 0);
  CHECK(read_file(shell.folder() / "gap" / "report.html") == gap_page);
  check_refused(shell("$tapeline report a --out b"), 2, {"holds a run or comparison of its own"});
  shell.write("mine/results.csv", "mine\n");
  check_refused(shell("$tapeline report a --out mine"), 2, {"\"results.csv\"", "no report of tapeline"});
  shell.write("page/report.html", "<html>mine</html>\n");
  check_refused(shell("$tapeline report a --out page"), 2, {"\"report.html\"", "no report of tapeline"});
  CHECK(read_file(shell.folder() / "page" / "report.html") == "<html>mine</html>\n");
  check_refused(shell("$tapeline report nowhere"), 1, {"\"nowhere\""});
  check_refused(shell("mkdir empty; $tapeline report empty"), 1, {"\"empty\""});
  check_refused(shell("$tapeline report"), 2, {"DIR"});
}

TEST_CASE("tapeline report --open: a browser of the desktop gets the page; without one the path is told") {
  const Shell shell;
  REQUIRE(shell(compare + "made").code == 0);
  const Ran none = shell("unset DISPLAY WAYLAND_DISPLAY; $tapeline report made --open");
  CHECK(none.code == 0);
  CHECK(contains(none.err, "no desktop here"));
  CHECK(contains(none.err, (shell.folder() / "made" / "report.html").string()));
  // A browser that stays open: the command does not wait for it.
  shell.write("bin/xdg-open",
              "#!/bin/sh\nprintf '%s' \"$1\" > opened.part\nmv opened.part opened\nsleep 5\n");
  const Ran opened = shell(
      "chmod +x bin/xdg-open; PATH=\"$PWD/bin:$PATH\" DISPLAY=:9 $tapeline report made --open --quiet\n"
      "for i in 1 2 3 4 5 6 7 8 9 10; do [ -e opened ] && break; sleep 0.1; done\ncat opened");
  CHECK(opened.code == 0);
  CHECK(opened.err.empty());
  CHECK(opened.out.ends_with((shell.folder() / "made" / "report.html").string()));
}

}  // namespace
}  // namespace tapeline
