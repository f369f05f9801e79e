#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "experiments/report/cost.h"
#include "experiments/report/html.h"
#include "experiments/report/missing_cells.h"
#include "experiments/report/sections/section.h"
#include "tests/experiments/report_samples.h"
#include "tests/support/text.h"

/// The page of folders that were put together.
namespace tapeline {
namespace {

using test::contains;
using test::data_of;
using test::series_of;
using test::sweep_point;
using Row = std::vector<std::string>;

/// `comparison` put together from two folders, its seeds moved to 0 and 5.
Comparison with_seed_gap() {
  Comparison comparison = test::sample_comparison(2);
  for (FinishedCell& cell : comparison.cells) {
    if (cell.seed == 1) cell.seed = 5, cell.share = 1;
  }
  comparison.seeds = {0, 5};
  comparison.folders = {"runs/a", "my b"};
  comparison.command = "tapeline compare --out runs/a\ntapeline compare --seed 5 --out 'my b'";
  return comparison;
}

TEST_CASE(
    "seeds that do not follow one another: nothing is missing between them, and the commands are true") {
  Comparison comparison = with_seed_gap();
  CHECK(missing_cells(comparison).empty());
  const std::string body = reproduction_section(data_of(comparison)).body;
  CHECK(contains(body,
                 "tapeline compare compare.toml --seed 0 --seeds 1 --out seeds-0\n"
                 "tapeline compare compare.toml --seed 5 --seeds 1 --out seeds-5\n"
                 "tapeline report seeds-0 seeds-5 --out together"));
  CHECK_FALSE(contains(body, "does the same as tapeline compare compare.toml."));
  comparison.seeds = {0, 1, 5, 6, 7};
  CHECK(contains(reproduction_section(data_of(comparison)).body, "--seed 5 --seeds 3 --out seeds-5\n"));
  comparison.cells.pop_back();
  CHECK(missing_cells(comparison) == Row{"rope, seed 1", "learned, seed 1", "learned, seed 5", "rope, seed 6",
                                         "learned, seed 6", "rope, seed 7", "learned, seed 7"});
  const Comparison plain = test::sample_comparison(2);
  CHECK(contains(reproduction_section(data_of(plain)).body, "as tapeline compare compare.toml."));
}

TEST_CASE("the files that the page names are those that are there, and the merged page tells its command") {
  Comparison comparison = with_seed_gap();
  ReportData data = data_of(comparison);
  data.folder = "put together";
  const std::string merged = reproduction_section(data).body;
  CHECK_FALSE(contains(merged, "config.toml"));
  CHECK_FALSE(contains(merged, "sweep.csv"));
  CHECK(contains(merged, html_escape("tapeline report runs/a 'my b' --out 'put together'")));
  comparison.sweep = {sweep_point("rope", 1, 1.5)};
  CHECK(contains(reproduction_section(data).body, "sweep.csv (the learning rates"));
  const Comparison plain = test::sample_comparison(1);
  const std::string alone = reproduction_section(data_of(plain)).body;
  CHECK(contains(alone, "The folder that tapeline compare made also holds config.toml"));
  CHECK_FALSE(contains(alone, "--out put"));
}

TEST_CASE("cost: speeds of different folders or threads are not measured against each other") {
  Comparison comparison = test::sample_comparison(2);
  CHECK(training_cost_table(comparison).rows[1][4] == "1.00");
  CHECK(training_table(comparison).header.size() == 5);
  for (FinishedCell& cell : comparison.cells) {
    cell.record.threads = cell.seed == 0 ? 1 : 4;
    cell.share = static_cast<Index>(cell.seed);
  }
  comparison.folders = {"one", "two"};
  const ReportTable table = training_cost_table(comparison);
  CHECK(table.rows[1][4] == "–");
  CHECK(contains(table.notes.front(), "in 2 folders, perhaps on as many machines, with 1 and 4 threads"));
  CHECK(contains(evaluation_speed_table(comparison, series_of(comparison)).notes.front(), "in 2 folders"));
  const ReportTable models = training_table(comparison);
  CHECK(models.header.back() == "folder");
  CHECK(models.rows[3][5] == "4");
  CHECK(models.rows[3][6] == "two");
}

}  // namespace
}  // namespace tapeline
