#include <doctest/doctest.h>

#include <cmath>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "core/files.h"
#include "experiments/compare/summary.h"
#include "experiments/report/answer.h"
#include "experiments/report/figures.h"
#include "experiments/report/gnuplot.h"
#include "experiments/report/html.h"
#include "experiments/report/html_parts.h"
#include "experiments/report/inline_svg.h"
#include "experiments/report/ratio_tables.h"
#include "experiments/report/report.h"
#include "experiments/report/tables.h"
#include "experiments/table.h"
#include "tests/experiments/comparison_samples.h"
#include "tests/support/kinds.h"
#include "tests/support/surroundings.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/text.h"
#include "train/config_loader.h"

namespace tapeline {
namespace {

using test::contains;

using test::series_of;

TEST_CASE("one seed has no interval, never one of width zero; several have Student's") {
  CHECK(std::isnan(estimate({2.5}).half_width));
  CHECK(estimate({}).count == 0);
  const Estimate three = estimate({1.0, 2.0, 3.0});
  CHECK(three.mean == doctest::Approx(2.0));
  CHECK(three.half_width == doctest::Approx(2.48414).epsilon(1e-4));  // 4.3027 * 1 / sqrt(3)
}

TEST_CASE("the table of lengths: units and scored tokens beside it, n/a for a refused length") {
  const Comparison comparison = test::sample_comparison(1);
  const ReportTable table = length_table(comparison, series_of(comparison));
  CHECK(contains(table.title, "Bits per byte"));
  CHECK(table.header == std::vector<std::string>{"encoding", "64 (1×)", "128 (2×)"});
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0] == std::vector<std::string>{"rope", "2.308", "3.030"});
  CHECK(table.rows[1] == std::vector<std::string>{"learned", "2.453", "n/a"});
  const std::string text = terminal_text(table, 0);
  CHECK(contains(text, "1,000 scored bytes"));
  CHECK(contains(text, "first target sees one byte"));
  CHECK(contains(text, "One seed: no interval."));
}

TEST_CASE("the table of lengths: short last windows are marked, settings that are not the default ones told" *
          test::needs({"learned", "rope"})) {
  Comparison comparison = test::sample_comparison(1);
  for (RecordedResult& recorded : comparison.cells.front().record.results) {
    recorded.result.short_windows = recorded.result.cell.length == 128 ? 3 : 0;
  }
  ConfigSources clamped;
  clamped.sets = {{"positional.learned.beyond", "clamp", "--set"}};
  comparison.config.positional = resolve_config(clamped).config.positional;
  const ReportTable table = length_table(comparison, series_of(comparison));
  CHECK(table.header == std::vector<std::string>{"encoding", "64 (1×)", "128 (2×)*"});
  CHECK(contains(terminal_text(table, 0), "*: some windows are shorter"));
  CHECK(contains(terminal_text(table, 0), "learned: beyond = \"clamp\"."));
}

TEST_CASE("several seeds: intervals in the table; ratios are within one model") {
  const Comparison comparison = test::sample_comparison(3);
  const std::vector<Series> all = series_of(comparison);
  CHECK(contains(length_table(comparison, all).rows[0][1], "±"));
  const Estimate ratio = log_perplexity_ratio(result_rows(comparison.cells), all[0], 128);
  CHECK(ratio.mean == doctest::Approx(0.5));
  CHECK(std::abs(ratio.half_width) < 1e-9);  // the seeds' common shift is gone
  // At the trained length the ratio is 1 by definition: no column.
  CHECK(ratio_table(comparison, all).header == std::vector<std::string>{"encoding", "128 (2×)"});
}

TEST_CASE("a diverged seed is counted, not averaged") {
  Comparison comparison = test::sample_comparison(2);
  EvaluationResult& result = comparison.cells[2].record.results[0].result;
  result.status = "diverged";
  result.nll = result.bits_per_byte = std::nan("");
  const ReportTable table = length_table(comparison, series_of(comparison));
  CHECK(table.rows[0][1] == "2.308 (1 of 2 diverged)");
}

TEST_CASE("the answer names the best, what became of it, and who could not go there") {
  const Comparison comparison = test::sample_comparison(1);
  const std::string answer = answer_text(comparison, series_of(comparison));
  CHECK(contains(answer, "Trained on windows of 64 bytes"));
  CHECK(contains(answer, "128 (2 times as long)"));
  CHECK(contains(answer, "rope needs 3.030 bits per byte, against 2.308 at 64"));
  CHECK(contains(answer, "learned cannot be evaluated at 128"));
}

TEST_CASE("the report is one file that fetches nothing and tells how to make it again") {
  const test::TemporaryFolder folder;
  Comparison comparison = test::sample_comparison(1);
  comparison.text_source = "<script>alert(1)</script>";
  const ReportOutcome outcome = write_report(comparison, folder.path());
  REQUIRE(outcome.figures_missing.empty());
  const std::string page = read_file(outcome.page);
  CHECK_FALSE(contains(page, "http:"));
  CHECK_FALSE(contains(page, "https:"));
  CHECK_FALSE(contains(page, "<script"));
  CHECK_FALSE(contains(page, "<link"));
  CHECK_FALSE(contains(page, "@import"));
  CHECK_FALSE(std::regex_search(page, std::regex("\\ssrc\\s*=")));
  CHECK_FALSE(std::regex_search(page, std::regex("href=['\"][^#]")));  // only within the page itself
  CHECK_FALSE(std::regex_search(page, std::regex("url\\((?!#)")));
  CHECK(contains(page, "prefers-color-scheme: dark"));
  CHECK(contains(page, "name=\"viewport\""));
  CHECK(contains(page, "aria-label=\"Line chart of bits per byte"));
  CHECK(contains(page, html_escape(comparison.command)));
  CHECK(contains(page, "positional"));  // the settings
  // What may be wider than the page stands in a frame that says so by its own measure.
  CHECK(std::regex_search(page, std::regex("<div class=\"scroll\"[^>]*><div><table ")));
  CHECK(std::regex_search(page, std::regex("<div class=\"drawing\"[^>]*><div><svg ")));
  CHECK(contains(page, "clamp(0rem, (100% - 100cqw - 2px) * 999, 1.3rem)"));
  const auto first_of = [&](const char* part) { return page.find(part); };
  CHECK(first_of("class=\"answer\"") < first_of("<svg"));
  for (const char* name : {"loss_by_length", "loss_by_position"}) {
    for (const char* ending : {".svg", ".png", ".csv"}) {
      CHECK(std::filesystem::file_size(folder.path() / "figures" / (std::string(name) + ending)) > 100);
    }
  }
  // No two elements share an id.
  std::set<std::string> ids;
  const std::regex id("\\sid=['\"]([^'\"]+)['\"]");
  for (std::sregex_iterator match(page.begin(), page.end(), id), end; match != end; ++match) {
    CHECK_MESSAGE(ids.insert((*match)[1]).second, (*match)[1].str());
  }
}

TEST_CASE("without gnuplot the tables come all the same, with the package to install") {
  const test::TemporaryFolder folder;
  const test::Environment no_programs("PATH", folder.path().string());
  const ReportOutcome outcome = write_report(test::sample_comparison(1), folder.path());
  CHECK(contains(outcome.figures_missing, "gnuplot-nox"));
  const std::string page = read_file(outcome.page);
  CHECK(contains(page, "gnuplot-nox"));
  CHECK(contains(page, "<td class=\"best\">2.308</td>"));
  CHECK(std::filesystem::exists(folder.path() / "figures" / "loss_by_length.csv"));
}

TEST_CASE("a report goes into a new folder even where no model is left to be drawn") {
  const test::TemporaryFolder folder;
  Comparison comparison = test::sample_comparison(1);
  for (FinishedCell& cell : comparison.cells) {
    cell.record.training = "diverged";
    for (RecordedResult& recorded : cell.record.results) {
      recorded.result.status = "diverged";
      recorded.result.nll = recorded.result.bits_per_byte = std::nan("");
      recorded.result.positions.clear();
    }
  }
  const ReportOutcome outcome = write_report(comparison, folder / "new" / "place");
  CHECK(outcome.figures.empty());
  CHECK(contains(read_file(outcome.page), "no encoding gives a result"));
}

TEST_CASE("headings of tables may break behind the dots of keys, never within a number or a stride") {
  const ReportTable table{
      .title = "t", .header = {"192 (1.5×)", "model.width", "stride 16"}, .rows = {}, .notes = {}};
  const std::string text = html_table(table, "t", {});
  CHECK(contains(text, ">192 (1.5×)<"));
  CHECK(contains(text, ">model.<wbr>width<"));
  CHECK(contains(text, ">stride&nbsp;16<"));
}

TEST_CASE("gnuplot's refusal is one line of its own") {
  CHECK_THROWS_WITH(gnuplot_output("plot nonsense(\n"), doctest::Contains("gnuplot failed"));
}

TEST_CASE("a figure's data: one line a point, curve by curve") {
  const Comparison comparison = test::sample_comparison(1);
  const Figure figure = loss_by_length(comparison, series_of(comparison));
  CHECK(figure.mark == 64);
  CHECK(figure.curves.size() == 2);
  CHECK(figure.curves[1].points.size() == 1);  // learned: nothing past its table
  CHECK(figure_csv(figure).starts_with("curve,x,y,half_width\nrope,64,2.308"));
}

TEST_CASE("by position: a curve of shorter windows than the others' says so") {
  const Comparison comparison = test::sample_comparison(1);
  const Figure figure = loss_by_position(comparison, series_of(comparison));
  REQUIRE(figure.curves.size() == 2);
  CHECK(figure.curves[0].name == "rope");
  CHECK(figure.curves[1].name == "learned, windows of 64");
}

TEST_CASE("a drawing with intervals has no colour that is not the page's") {
  const test::TemporaryFolder folder;
  const Comparison comparison = test::sample_comparison(3);
  const Figure figure = loss_by_length(comparison, series_of(comparison));
  REQUIRE(has_intervals(figure));
  draw_figure(figure, folder.path());
  const std::string svg = inline_svg(read_file(folder.path() / "loss_by_length.svg"), figure);
  CHECK(contains(svg, "var(--curve0)"));
  // gnuplot clears the ground under the points of bars: white blots on a dark page.
  CHECK_FALSE(std::regex_search(svg, std::regex("#ffffff|rgb\\(", std::regex::icase)));
}

TEST_CASE("a table too wide for the terminal goes on below, its labels repeated and its words whole") {
  const Comparison comparison = test::sample_comparison(3);
  const std::vector<Series> all = series_of(comparison);
  for (const ReportTable& table : {length_table(comparison, all), sliding_table(comparison, all)}) {
    for (const std::size_t width : {80, 40, 32}) {
      const std::string text = terminal_text(table, width);
      std::istringstream lines(text);
      for (std::string line; std::getline(lines, line);) {
        CHECK_MESSAGE(display_width(line) <= width, line);
      }
      for (const std::vector<std::string>& row : table.rows) {
        for (std::size_t c = 1; c < row.size(); ++c) CHECK_MESSAGE(contains(text, row[c]), row[c]);
      }
    }
    // Without a terminal a row is one line.
    CHECK(contains(terminal_text(table, 0), table.rows[0].back() + "\n"));
  }
  CHECK(contains(terminal_text(sliding_table(comparison, all), 40), "non-overlapping"));
  CHECK(contains(terminal_text(length_table(comparison, all), 32), "\nencoding      128 (2×)\n"));
}

}  // namespace
}  // namespace tapeline
