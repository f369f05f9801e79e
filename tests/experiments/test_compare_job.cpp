#include <doctest/doctest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/files.h"
#include "experiments/compare/cell_record.h"
#include "tests/experiments/small_comparison.h"
#include "tests/support/kinds.h"
#include "tests/support/text.h"

namespace tapeline {
namespace {

using test::contains;
using test::SmallComparison;

/// Further evaluations of the models of learned and alibi.
const std::vector<std::string> evaluations = {
    "--set",
    "compare.evaluation=[{name = \"clamped\", of = \"learned\", positional.learned.beyond = \"clamp\"}, "
    "{name = \"near\", positional.keys.window = 4}]"};

void sleep_milliseconds(int count) { std::this_thread::sleep_for(std::chrono::milliseconds(count)); }

TEST_CASE("compare: kill -9 at any moment, the same command again: the same bytes") {
  const SmallComparison small;
  const auto whole = small.run_timed("whole", evaluations);
  CHECK(contains(small.results("whole"), "learned,learned,trained,0,8,nonoverlapping,16,16,0,0,refused,"));
  CHECK(contains(small.results("whole"), "alibi,alibi,trained,0,8,nonoverlapping,16,16,"));
  CHECK(contains(small.results("whole"), "learned,learned,clamped,0,8,nonoverlapping,16,16,"));
  CHECK(contains(small.results("whole"), "learned,learned,near,0,8,nonoverlapping,16,16,0,0,refused,"));
  CHECK(contains(small.results("whole"), "alibi,alibi,near,0,8,nonoverlapping,16,16,"));
  CHECK_FALSE(contains(small.results("whole"), "alibi,alibi,clamped,"));
  CHECK(contains(small.output(), "n/a"));
  CHECK(contains(small.output(), "learned, clamped "));
  CHECK(contains(small.output(), "report: " + (small / "whole/report.html").string()));

  CHECK(small.run_killed("killed", evaluations, whole) > 0);
  CHECK(small.results("killed") == small.results("whole"));
  CHECK(read_file(small / "killed/positions.csv") == read_file(small / "whole/positions.csv"));
}

TEST_CASE(
    "compare: a signal saves and exits 3; a finished comparison is not run again; another config is "
    "refused") {
  const SmallComparison small;
  const pid_t child = small.start("out", {"--set", "train.steps=4000"});
  for (int i = 0; i < 400 && !std::filesystem::exists(small / "out/cells/learned-seed0/checkpoints/latest");
       ++i) {
    sleep_milliseconds(20);
  }
  kill(child, SIGTERM);
  CHECK(SmallComparison::wait(child) == 3);

  CHECK(small.run("out") == 2);  // 40 steps into the folder of 4000
  CHECK(contains(small.messages(), "train.steps"));
  CHECK(contains(small.messages(), "4000"));

  REQUIRE_MESSAGE(small.run("done") == 0, small.messages());
  const std::string record = read_file(small / "done/cells/alibi-seed0/result.json");
  const std::string results = read_file(small / "done/results.csv");
  const auto checkpoint_time =
      std::filesystem::last_write_time(small / "done/cells/alibi-seed0/checkpoints/latest");
  CHECK(small.run("done") == 0);
  CHECK(read_file(small / "done/cells/alibi-seed0/result.json") == record);
  CHECK(read_file(small / "done/results.csv") == results);  // speeds too: they were kept, not measured again
  CHECK(std::filesystem::last_write_time(small / "done/cells/alibi-seed0/checkpoints/latest") ==
        checkpoint_time);
}

TEST_CASE("compare: interrupted between any two evaluations: the finished ones stay, the others come") {
  const SmallComparison small("alibi");
  const std::vector<std::string> more = {"--set",
                                         "compare.evaluation=[{name = \"near\", positional.keys.window = 4}, "
                                         "{name = \"logn\", positional.score.scale = \"logn\"}]"};
  REQUIRE_MESSAGE(small.run("out", more) == 0, small.messages());
  const std::string results = small.results("out"), positions = read_file(small / "out/positions.csv");
  const std::filesystem::path cell = small / "out/cells/alibi-seed0";
  const CellRecord whole = read_record(cell);
  REQUIRE(whole.results.size() % 3 == 0);
  std::set<std::string> values;  // no evaluation gives what another one does
  for (const RecordedResult& recorded : whole.results) {
    if (recorded.result.cell.length == 16 && !recorded.result.cell.subset)
      values.insert(std::to_string(recorded.result.nll));
  }
  CHECK(values.size() == 3);
  for (std::size_t kept = 0; kept < whole.results.size(); kept += 2) {
    CAPTURE(kept);
    CellRecord part = whole;
    part.complete = false;
    part.results.resize(kept);
    for (RecordedResult& recorded : part.results) recorded.result.tokens_per_second = 77;  // to be known by
    write_record(cell, part);
    std::filesystem::remove(small / "out/results.csv");
    REQUIRE_MESSAGE(small.run("out", more) == 0, small.messages());
    CHECK(small.results("out") == results);
    CHECK(read_file(small / "out/positions.csv") == positions);
    const CellRecord after = read_record(cell);
    REQUIRE(after.results.size() == whole.results.size());
    for (std::size_t i = 0; i < after.results.size(); ++i)
      CHECK((after.results[i].result.tokens_per_second == 77) == (i < kept));
  }
}

TEST_CASE("compare: a factor of auto is that of each length" * test::needs({"rope"})) {
  const SmallComparison small("rope");
  REQUIRE_MESSAGE(
      small.run("out", {"--set",
                        "compare.evaluation=[{name = \"auto\", positional.rope.scaling = \"ntk\"}, "
                        "{name = \"twice\", positional.rope = {scaling = \"ntk\", factor = \"2\"}}]"}) == 0,
      small.messages());
  const CellRecord record = read_record(small / "out/cells/rope-seed0");
  const auto nll = [&](const char* evaluation, Index length) {
    const EvaluationResult* result =
        record.find(evaluation, {Protocol::nonoverlapping, length, length, false});
    REQUIRE(result != nullptr);
    return result->nll;
  };
  CHECK(nll("auto", 8) == nll("trained", 8));
  CHECK(nll("auto", 16) == nll("twice", 16));
  CHECK(nll("twice", 8) != nll("trained", 8));
  CHECK(nll("twice", 16) != nll("trained", 16));
}

TEST_CASE("compare: --dry-run tells the evaluations, and a wrong one is refused there and leaves nothing") {
  const SmallComparison small;
  std::vector<std::string> words = evaluations;
  words.push_back("--dry-run");
  REQUIRE_MESSAGE(small.run("out", words) == 0, small.messages());
  CHECK(contains(small.output(), "each model as trained; also learned, clamped; learned, near; alibi, near"));
  CHECK(contains(small.output(), "[[compare.evaluation]]\nname = \"clamped\"\nof = \"learned\"\n"));
  for (const char* dry : {"--dry-run", "--quiet"}) {
    CHECK(small.run("out", {dry, "--set",
                            "compare.evaluation=[{name = \"e\", of = \"learned\", "
                            "positional.learned.rows = 20}]"}) == 2);
    CHECK(contains(small.messages(), "evaluation \"e\" (--set) sets positional.learned.rows to 20"));
    CHECK(small.run("out", {dry, "--set", "evaluate.protocols=[\"sliding\"]"}) == 2);
    CHECK(contains(small.messages(), "evaluate.protocols of learned is [\"sliding\"]"));
    CHECK(small.run("out",
                    {dry, "--set", "compare.variant=[{name = \"v\", evaluate.sliding_tokens = 32}]"}) == 2);
    CHECK(contains(small.messages(), "variant \"v\" sets evaluate.sliding_tokens"));
  }
  CHECK_FALSE(std::filesystem::exists(small / "out"));
}

TEST_CASE("compare: a model that diverges is counted, and the others go on") {
  const SmallComparison small;
  REQUIRE_MESSAGE(
      small.run("out", {"--set", "optimizer.lr=1e30", "--set", "optimizer.clip=0", "--json"}) == 0,
      small.messages());
  CHECK(contains(small.results("out"), ",diverged,"));
  CHECK(contains(small.output(), "\"status\": \"diverged\""));
}

}  // namespace
}  // namespace tapeline
