#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "core/seal.h"
#include "experiments/compare/cell_record.h"
#include "tests/experiments/shell.h"
#include "train/config_loader.h"

namespace tapeline::test {
namespace {

const std::string judged_comparison =
    "$tapeline compare $small --encodings alibi --seeds 2 --set compare.thresholds=toy-1 "
    "--set evaluate.lengths=1x,8x,16x --quiet --out ";

/// Moves the loss of ALiBi's non-overlapping windows past L in the finished cells.
void change_records(const Shell& shell, double nats) {
  for (const char* seed : {"0", "1"}) {
    const std::filesystem::path cell = shell.folder() / "run/cells" / ("alibi-seed" + std::string(seed));
    CellRecord record = read_record(cell);
    double at_trained = 0;
    for (const RecordedResult& recorded : record.results) {
      const EvaluationCell& at = recorded.result.cell;
      if (at.length == 16 && !at.subset) at_trained = recorded.result.nll;
    }
    for (RecordedResult& recorded : record.results) {
      const EvaluationCell& at = recorded.result.cell;
      if (at.length > 16 && !at.subset) recorded.result.nll = at_trained + nats;
    }
    write_record(cell, record);
  }
}

/// The text of a config.toml that was changed, as if tapeline had written it so.
std::string resealed(const std::string& text) {
  return sealed(text.substr(0, text.rfind(stored_config_seal.opening)), stored_config_seal);
}

TEST_CASE(
    "compare --check: exit code 4 when a primary criterion fails, and which; claims.json at the end of any "
    "run") {
  const Shell shell;
  const Ran first = shell(judged_comparison + "run ");
  CAPTURE(first.err);
  REQUIRE(first.code == 0);
  CHECK(contains(first.out, "Criteria, judged by toy-1\n"));
  CHECK(contains(first.out, "\nC1*   "));
  CHECK(contains(first.out, "Not measured: C4, C6: there is no sinusoidal."));
  const auto claims = nlohmann::json::parse(read_file(shell.folder() / "run/claims.json"));
  REQUIRE(claims.size() == 12);
  CHECK(claims.at(0).at("conditions").at(0).at("seeds") == 2);

  change_records(shell, 1);
  const Ran worse = shell(judged_comparison + "run --check --json");
  CHECK(worse.code == 4);
  CHECK(contains(worse.err, "tapeline: compare --check: C1 fails: asked R(8) < 1.00"));
  CHECK(contains(worse.err, "--check: C4 is not measured, which is no failure (there is no sinusoidal"));
  const auto printed = nlohmann::json::parse(worse.out);
  CHECK(printed.at("claims") == nlohmann::json::parse(read_file(shell.folder() / "run/claims.json")));
  CHECK(printed.at("claims").at(0).at("verdict") == "fails");
  CHECK(shell(judged_comparison + "run").code == 0);  // nobody asked

  change_records(shell, -0.1);
  const Ran better = shell(judged_comparison + "run --check");
  CHECK(better.code == 0);
  CHECK_FALSE(contains(better.err, "fails"));
}

TEST_CASE("compare --check looks at the criteria that compare.primary names, and at no other") {
  const Shell shell;
  const Ran declared = shell(judged_comparison + "declared --check --set compare.primary=C7,C12");
  CAPTURE(declared.err);
  CHECK(declared.code == 0);  // there is no learned table, and C12 is about another text
  CHECK(contains(declared.err, "--check: C7 is not measured"));
  CHECK(contains(declared.err, "--check: C12 is not measured"));
  CHECK_FALSE(contains(declared.err, "C1 "));
  CHECK(contains(declared.out, "\nC12*  "));
  CHECK(contains(read_file(shell.folder() / "declared/config.toml"), "primary = [\"C7\", \"C12\"]"));
  // A primary one fails; as long as it is not primary, nothing does.
  const Ran open = shell(judged_comparison + "run");
  REQUIRE(open.code == 0);
  change_records(shell, 1);
  CHECK(shell(judged_comparison + "run --check").code == 4);
  const std::string config = read_file(shell.folder() / "run/config.toml");
  std::string other = config;
  const std::string before = "primary = [\"C1\", \"C2\", \"C4\", \"C5\"]";
  REQUIRE(contains(other, before));
  other.replace(other.find(before), before.size(), "primary = [\"C12\"]");
  shell.write("run/config.toml", resealed(other));
  CHECK(shell("$tapeline report run --check --quiet").code == 0);
  CHECK(shell(judged_comparison + "run --check --set compare.primary=C12").code == 0);
  // A folder of before there was the key has the default.
  other.replace(other.find("primary = [\"C12\"]"), 17, "");
  shell.write("run/config.toml", resealed(other));
  CHECK(shell("$tapeline report run --check --quiet").code == 4);
  CHECK(contains(shell("$tapeline report --help").out, "compare.primary"));
}

TEST_CASE("compare: what is declared stands in the resolved configuration before the run") {
  const Shell shell;
  const Ran dry = shell("$tapeline compare $small --dry-run --preset paper");
  CAPTURE(dry.err);
  REQUIRE(dry.code == 0);
  CHECK(contains(dry.out,
                 "claims = [\"C1\", \"C2\", \"C3\", \"C4\", \"C5\", \"C6\", \"C7\", \"C8\", \"C9\", "
                 "\"C10\", \"C11\", \"C12\"]"));
  CHECK(contains(dry.out, "thresholds = \"paper-1\""));
  CHECK(contains(shell("$tapeline compare $small --dry-run --set compare.claims=C4,C1").out,
                 "claims = [\"C4\", \"C1\"]"));
  CHECK(contains(shell("$tapeline compare $small --dry-run --set compare.claims=[]").out, "claims = []"));
  check_refused(shell("$tapeline compare $small --set compare.claims=C13"), 2,
                {"compare.claims", "C13", "C12"});
  check_refused(shell("$tapeline compare $small --set compare.thresholds=mine"), 2,
                {"compare.thresholds", "toy-1"});
  CHECK(contains(dry.out, "primary = [\"C1\", \"C2\", \"C4\", \"C5\"]"));
  CHECK(contains(shell("$tapeline compare $small --dry-run --preset smoke").out, "primary = []"));
  CHECK(contains(shell("$tapeline compare $small --dry-run --set compare.primary=C12").out,
                 "primary = [\"C12\"]"));
  check_refused(shell("$tapeline compare $small --set compare.primary=C13"), 2,
                {"compare.primary", "C13", "C12"});
  const Ran none = shell(
      "$tapeline compare $small --encodings alibi --seeds 1 --set compare.claims=[] --set "
      "train.steps=1 --out run --check --quiet");
  CHECK(none.code == 0);
  CHECK(contains(none.err, "nothing is checked"));
  CHECK(contains(none.err, "compare.primary names C1, C2, C4, C5, compare.claims does not: not judged"));
  CHECK_FALSE(contains(none.out, "Criteria"));
}

}  // namespace
}  // namespace tapeline::test
