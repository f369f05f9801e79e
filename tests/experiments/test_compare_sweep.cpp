#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>

#include "core/error.h"
#include "core/files.h"
#include "experiments/compare/stored.h"
#include "experiments/compare/sweep.h"
#include "tests/experiments/small_comparison.h"
#include "tests/support/kinds.h"
#include "tests/support/text.h"

/// compare.sweep: learning rates tried first.
namespace tapeline {
namespace {

using test::contains;
using test::SmallComparison;

ResolvedConfig swept_config(std::vector<Assignment> more = {}) {
  ConfigSources sources;
  sources.preset = "smoke";
  sources.sets = {{"compare.encodings", "[]", "--set"},
                  {"compare.variant",
                   "[{name = \"a\", model.bias = true}, {name = \"b\", optimizer.lr = 0.01}]", "--set"},
                  {"compare.sweep", "0.5,1,2", "--set"},
                  {"compare.seeds", "2", "--set"},
                  {"train.seed", "5", "--set"}};
  sources.sets.insert(sources.sets.end(), more.begin(), more.end());
  return resolve_config(sources);
}

CellRecord measured(double nll, Index length = 32) {
  CellRecord record;
  record.training = std::isnan(nll) ? "diverged" : "done";
  EvaluationResult result;
  result.cell = {Protocol::nonoverlapping, length, length, false};
  result.nll = nll;
  result.status = std::isnan(nll) ? "diverged" : "ok";
  result.scored_tokens = 100;
  record.results.push_back({trained_evaluation, result});
  return record;
}

TEST_CASE("a sweep is planned before the cells, once a variant, at multiples of the variant's own rate") {
  const ResolvedConfig config = swept_config();
  std::vector<Cell> cells = plan_cells(config);
  const std::vector<Cell> points = plan_sweep(config.config, cells);
  REQUIRE(points.size() == 6);
  CHECK(points[0].folder_name() == "a-lr0.5-seed5");
  CHECK(points[5].folder_name() == "b-lr2-seed5");
  CHECK(points[0].config.config.optimizer.lr == 0.5 * 3e-3);
  CHECK(points[5].config.config.optimizer.lr == 0.02);
  CHECK(points[5].config.origins.at("optimizer.lr") == "compare.sweep, 2 times the rate given");
  REQUIRE(points[0].evaluations.size() == 1);
  CHECK(points[0].evaluations[0].config.evaluate.lengths == std::vector<std::string>{"32"});
  CHECK(points[0].config.config.evaluate.lengths.size() == 4);  // the run is that of the comparison
  REQUIRE(cells.size() == 4);
  CHECK(cells[0].part == CellPart::swept);
  CHECK(cells[2].part == CellPart::whole);
  CHECK(cells[2].folder_name() == "a-seed6");

  // Without one nothing changes.
  const ResolvedConfig plain = swept_config({{"compare.sweep", "[]", "--set"}});
  cells = plan_cells(plain);
  CHECK(plan_sweep(plain.config, cells).empty());
  CHECK(cells[0].part == CellPart::whole);
}

TEST_CASE("the lowest loss at the trained length is chosen once all points of a variant are there") {
  const ResolvedConfig config = swept_config();
  std::vector<Cell> cells = plan_cells(config);
  std::vector<Cell> points = plan_sweep(config.config, cells);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto chosen = [&](const std::vector<double>& losses) {
    std::vector<CellRecord> records;
    for (const double loss : losses) records.push_back(loss < 0 ? CellRecord{} : measured(loss));
    std::string text;
    for (const SweepPoint& point : measured_sweep(points, records)) {
      if (point.chosen) text += point.variant + std::to_string(point.multiple).substr(0, 3) + ' ';
    }
    return text;
  };
  CHECK(chosen({2.0, 1.9, 2.1, 1.5, 1.6, 1.4}) == "a1.0 b2.0 ");
  CHECK(chosen({2.0, 1.9, -1, 1.5, 1.6, 1.4}) == "b2.0 ");  // not yet
  CHECK(chosen({2.0, 2.0, 2.0, 1.5, 1.4, 1.4}) == "a0.5 b1.0 ");
  CHECK(chosen({nan, 9.0, nan, nan, nan, nan}) == "a1.0 b0.5 ");
  CHECK(chosen({-1, -1, -1, -1, -1, -1}).empty());

  std::vector<CellRecord> records;
  for (const double loss : {2.0, 1.9, 2.1, 1.5, 1.6, 1.4}) records.push_back(measured(loss));
  take_rates(cells, measured_sweep(points, records));
  CHECK(cells[0].folder_name() == "a-lr1-seed5");
  CHECK(cells[1].folder_name() == "b-lr2-seed5");
  CHECK(cells[3].folder_name() == "b-seed6");
  for (const std::size_t i : {1, 3}) {
    CHECK(cells[i].config.config.optimizer.lr == 0.02);
    CHECK(cells[i].evaluations[0].config.optimizer.lr == 0.02);
    CHECK(cells[i].evaluations[0].config.evaluate.lengths.size() == 4);
  }
  CHECK(cells[1].config.origins == points[5].config.origins);

  const std::string csv = sweep_csv(measured_sweep(points, records));
  CHECK(contains(csv, "name,kind,seed,train_length,multiple,lr,steps,trained_tokens,training_flop,"));
  CHECK(contains(csv, ",5,32,2,0.02,250,256000,"));
  CHECK(contains(csv, ",100,ok,1.4,yes,0\n"));
  CHECK(contains(csv, ",100,ok,1.6,no,0\n"));
}

TEST_CASE("a sweep that cannot be is refused by name") {
  const auto refusal = [](const std::string& sweep) {
    try {
      swept_config({{"compare.sweep", sweep, "--sweep"}});
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(refusal("[0.3, 1, 3]").empty());
  CHECK(contains(refusal("2"), "compare.sweep [2.0] (--sweep): two or more different multiples"));
  CHECK(contains(refusal("1,2,1"), "two or more different multiples"));
  CHECK(contains(refusal("0,1"), "it must be above 0"));
}

TEST_CASE("compare --sweep: killed at any moment, the same bytes; the chosen run is not made twice" *
          test::needs({"learned", "alibi"})) {
  const SmallComparison small("learned,alibi", 2);
  // The sweep measures the trained length first, and the comparison last.
  const std::vector<std::string> lengths = {"--set", "evaluate.lengths=[\"2x\", \"1x\"]"};
  std::vector<std::string> more = lengths;
  more.push_back("--sweep");
  const auto whole = small.run_timed("whole", more);
  const std::string sweep = small.sweep("whole");
  CHECK(std::ranges::count(sweep, '\n') == 7);
  CHECK(small.run_killed("killed", more, whole) > 0);
  CHECK(small.results("killed") == small.results("whole"));
  CHECK(small.sweep("killed") == sweep);
  CHECK(read_file(small / "killed/positions.csv") == read_file(small / "whole/positions.csv"));

  std::set<std::string> folders;
  for (const auto& entry : std::filesystem::directory_iterator(small / "whole/cells"))
    folders.insert(entry.path().filename().string());
  CHECK(folders == std::set<std::string>{"learned-lr0.5-seed0", "learned-lr1-seed0", "learned-lr2-seed0",
                                         "alibi-lr0.5-seed0", "alibi-lr1-seed0", "alibi-lr2-seed0",
                                         "learned-seed1", "alibi-seed1"});

  const Comparison read = read_comparison({small / "whole"});
  CHECK(sweep_csv(read.sweep) == read_file(small / "whole/sweep.csv"));
  CHECK(read.cells.size() == 4);
  CHECK(SmallComparison::without_last_column(results_csv(result_rows(read.cells))) == small.results("whole"));
  // The rate is that of the chosen point, and what is trained with it is what a comparison at that rate
  // trains.
  for (const SweepPoint& point : read.sweep) {
    if (!point.chosen || point.variant != "alibi") continue;
    const SmallComparison alone("alibi", 2);
    REQUIRE(alone.run("out", {"--set", "optimizer.lr=" + std::to_string(point.lr), lengths[0], lengths[1]}) ==
            0);
    const std::string rows = alone.results("out");
    CHECK(contains(small.results("whole"), rows.substr(rows.find("alibi,alibi,trained,1,"))));
    CHECK(contains(small.results("whole"), rows.substr(rows.find('\n') + 1, 200)));
  }

  // The shares of one with a sweep are whole variants.
  for (const char* share : {"1/2", "2/2"}) {
    std::vector<std::string> words = more;
    words.insert(words.end(), {"--cells", share});
    REQUIRE_MESSAGE(small.run(std::string(1, *share), words) == 0, small.messages());
  }
  const Comparison merged = read_comparison({small / "2", small / "1"});
  CHECK(SmallComparison::without_last_column(results_csv(result_rows(merged.cells))) ==
        small.results("whole"));
  CHECK(SmallComparison::without_last_column(sweep_csv(merged.sweep)) == sweep);
}

}  // namespace
}  // namespace tapeline
