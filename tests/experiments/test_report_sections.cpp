#include <doctest/doctest.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <numbers>
#include <regex>
#include <set>
#include <string>

#include "core/files.h"
#include "experiments/commands/conclusion.h"
#include "experiments/report/attention_internals.h"
#include "experiments/report/context_probes.h"
#include "experiments/report/cost.h"
#include "experiments/report/early_tokens.h"
#include "experiments/report/html.h"
#include "experiments/report/missing_cells.h"
#include "experiments/report/report.h"
#include "experiments/report/sections/section.h"
#include "experiments/report/sweep_table.h"
#include "tests/experiments/comparison_samples.h"
#include "tests/experiments/report_samples.h"
#include "tests/support/stop_signal.h"
#include "tests/support/surroundings.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/text.h"

namespace tapeline {
namespace {

using test::contains;
using test::data_of;
using test::full_comparison;
using test::series_of;
using test::sweep_point;
using Row = std::vector<std::string>;

TEST_CASE("the early-token gap and what the longer context adds, in nats, paired within a model") {
  Comparison comparison = test::sample_comparison(3);
  CHECK(early_token_table(comparison, series_of(comparison))
            .rows.empty());  // no stride 1 at the trained length
  test::add_early_tokens(comparison);
  const ReportTable table = early_token_table(comparison, series_of(comparison));
  CHECK(table.header == Row{"encoding", "gap at 64", "residual at 128 (2×)"});
  REQUIRE(table.rows.size() == 2);
  // 1.85 - (1.5 + 0.1 / 2) = 0.3; what the seeds have in common falls out.
  CHECK(table.rows[0] == Row{"rope", "0.100 ±0.000", "0.300 ±0.000"});
  CHECK(table.rows[1] == Row{"learned", "0.100 ±0.000", "–"});
  CHECK_FALSE(contains(terminal_text(table, 0), "A gap below 0"));
  Comparison negative = comparison;
  for (FinishedCell& cell : negative.cells) {
    for (RecordedResult& recorded : cell.record.results) {
      if (recorded.result.cell.stride == 1) recorded.result.nll += 0.2;
    }
  }
  const ReportTable worse = early_token_table(negative, series_of(negative));
  CHECK(worse.rows[0][1] == "-0.100 ±0.000");
  CHECK(contains(terminal_text(worse, 0), "A gap below 0"));
  comparison.cells[0].record.results.back().result.status = "diverged";  // sliding at 128: no part of either
  CHECK(early_token_table(comparison, series_of(comparison)).rows == table.rows);
}

TEST_CASE("attention: means over layers and heads, layers apart, n/a where a length is refused") {
  Comparison comparison = test::sample_comparison(1);
  CHECK(attention_layer_tables(comparison, series_of(comparison)).empty());
  CHECK_FALSE(has_points(attention_entropy_figure(comparison, series_of(comparison))));
  test::add_attention(comparison);
  const std::vector<Series> all = series_of(comparison);
  const ReportTable table = attention_table(comparison, all);
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0] == Row{"rope", "0.560", "0.560", "8.0", "16.0", "0.250", "0.250"});
  CHECK(table.rows[1] == Row{"learned", "0.560", "n/a", "8.0", "n/a", "0.250", "n/a"});
  const std::vector<ReportTable> layers = attention_layer_tables(comparison, all);
  REQUIRE(layers.size() == 3);
  CHECK(layers[1].header == Row{"encoding", "layer", "64 (1×)", "128 (2×)"});
  CHECK(layers[1].rows[1] == Row{"rope", "1", "10.0 (8.0–12.0)", "20.0 (16.0–24.0)"});
  const Figure distance = attention_distance_figure(comparison, all);
  CHECK(distance.y_logarithmic);
  REQUIRE(distance.curves.size() == 2);
  REQUIRE(distance.curves[0].points.size() == 2);
  CHECK(distance.curves[0].points[1].y == doctest::Approx(16));
  CHECK(distance.curves[1].points.size() == 1);
}

TEST_CASE("the other probes: what a limit costs by seed, history, shuffling, the in-context score") {
  Comparison comparison = test::sample_comparison(2);
  CHECK(hard_window_table(comparison, series_of(comparison)).rows.empty());
  CHECK(effective_context_table(comparison, series_of(comparison)).rows.empty());
  test::add_context_probes(comparison);
  const std::vector<Series> all = series_of(comparison);
  CHECK(hard_window_table(comparison, all).rows[0] == Row{"rope", "0.200 ±0.000"});
  CHECK(hard_window_table(comparison, all).rows[1] == Row{"learned", "n/a"});
  CHECK(effective_context_table(comparison, all).rows[0] == Row{"rope", "32"});
  for (ProbeFigure& figure : comparison.cells[2].record.probes[1].result.figures) {
    if (figure.quantity == "effective_context") figure.value = 16;
  }
  CHECK(effective_context_table(comparison, all).rows[0] == Row{"rope", "16 to 32"});
  const Figure history = history_figure(comparison, all);
  REQUIRE(history.curves[0].points.size() == 5);
  CHECK(history.curves[0].points[0].x == 8);
  CHECK(history.curves[0].points[0].y == doctest::Approx(1.9 / std::numbers::ln2));
  const Figure shuffled = shuffle_figure(comparison, all);
  REQUIRE(shuffled.curves[0].points.size() == 4);  // without the one where nothing stays in order
  CHECK(shuffled.curves[0].points[0].y == doctest::Approx(0.05 / std::numbers::ln2));
  CHECK(in_context_table(comparison, all).rows[1] == Row{"learned", "-0.289 ±0.000"});
}

TEST_CASE("cost: one line a variant, medians over its seeds, the fastest as measure") {
  Comparison comparison = test::sample_comparison(3);
  comparison.cells[1].record.tokens_per_second = 20000;
  comparison.cells[3].record.tokens_per_second = 30000;
  comparison.cells[5].record.tokens_per_second = 10000;
  const ReportTable table = training_cost_table(comparison);
  REQUIRE(table.rows.size() == 2);
  // 700 steps of 2,048 tokens at 40,000 a second
  CHECK(table.rows[0] == Row{"rope", "826,368", table.rows[0][2], "40,000", "1.00", "36s"});
  CHECK(table.rows[1][3] == "20,000");
  CHECK(table.rows[1][4] == "0.50");
  // 6 · (12 · 4 layers · 128² + 256 · 128) operations a token of linear layers, and attention's beside
  CHECK(contains(table.rows[0][2], " TFLOP"));
  CHECK(std::stod(table.rows[0][2]) == doctest::Approx(7.2).epsilon(0.05));
  const ReportTable speeds = evaluation_speed_table(comparison, series_of(comparison));
  CHECK(speeds.rows[0] == Row{"rope", "12,345", "12,345"});
  CHECK(speeds.rows[1] == Row{"learned", "12,345", "n/a"});
}

TEST_CASE("learning rates that were tried: the loss of each, which was taken, what it cost") {
  Comparison comparison = test::sample_comparison(1);
  CHECK(sweep_section(data_of(comparison)).body.empty());
  comparison.sweep = {sweep_point("rope", 0.5, 1.6), sweep_point("rope", 1, 1.5), sweep_point("rope", 2, 1.7),
                      sweep_point("learned", 0.5, 1.8)};
  comparison.sweep[1].chosen = true;
  comparison.sweep[2].status = "diverged";
  const ReportTable table = sweep_table(comparison);
  CHECK(table.header == Row{"encoding", "rate × 0.5", "rate × 1", "rate × 2", "taken", "work", "time"});
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0] ==
        Row{"rope", "2.308 (0.001)", "2.164 (0.002)", "diverged", "0.002", "6.00 TFLOP", "1m 00s"});
  CHECK(table.rows[1] == Row{"learned", "2.597 (0.001)", "–", "–", "–", "2.00 TFLOP", "20s"});
  CHECK(contains(sweep_section(data_of(comparison)).body,
                 "Bits per byte at the trained length by learning rate"));
}

TEST_CASE("every figure has the number of targets, or rows, that it is of beside it") {
  Comparison comparison = full_comparison(2);
  for (FinishedCell& cell : comparison.cells) {
    for (RecordedProbe& probe : cell.record.probes) {
      for (ProbeFigure& figure : probe.result.figures) {
        if (probe.result.probe == "history") figure.tokens = 251;
        if (probe.result.probe == "shuffle") figure.tokens = 252;
        if (probe.result.probe == "in_context") figure.tokens = 1253;
        if (probe.result.probe == "hard_window") figure.tokens = 1254;
        if (probe.result.probe == "attention") figure.tokens = probe.result.length == 64 ? 4055 : 4056;
      }
    }
  }
  const test::TemporaryFolder folder;
  FigureSheet figures(folder / "figures");
  const ReportData data = data_of(comparison);
  const std::string probes = probe_section(data, figures).body;
  CHECK(contains(probes, "The loss of the same 251 targets"));
  CHECK(contains(probes, "Over 251 targets."));
  CHECK(contains(probes, "the loss of the same 252 targets rises"));
  CHECK(contains(probes, "Over 1,253 targets in all"));
  CHECK(contains(probes, "over 1,254 targets, with all keys"));
  CHECK(contains(probes, "Over 1,254 scored targets."));
  const std::string attention = attention_section(data, figures).body;
  CHECK(contains(attention, "Means over 4,055 to 4,056 rows, layers, heads and seeds."));
  CHECK(contains(attention, "heads and 4,055 to 4,056 rows"));
  const std::string early = early_token_section(data, figures).body;
  CHECK(contains(early, "over the same 100 targets"));
  CHECK(contains(early, "Over the 100 targets of the sliding windows."));
  CHECK(contains(position_section(data, figures).body, "1,000 scored bytes a model"));
  const std::string method = method_section(data).body;
  CHECK_FALSE(contains(method, "All numbers are"));
  CHECK(contains(method, "Loss by length and by position is over 1,000 target bytes"));
  CHECK(contains(method, "are over a part of these: 100."));
}

TEST_CASE("a part that was not measured is absent without trace, in the page and in its contents") {
  const test::TemporaryFolder folder;
  const std::string plain = read_file(write_report(test::sample_comparison(1), folder / "plain").page);
  const std::string full = read_file(write_report(full_comparison(3), folder / "full").page);
  for (const char* part : {"Where attention looks", "What the longer context is used for", "#attention",
                           "#context", "In-context score", "Layer by layer"}) {
    CHECK_MESSAGE(!contains(plain, part), part);
    CHECK_MESSAGE(contains(full, part), part);
  }
  for (const char* part : {"#length", "#position", "#cost", "#method", "#reproduce"})
    CHECK(contains(plain, part));
  for (const char* name : {"early_token_effect", "attention_entropy", "attention_distance", "hard_window",
                           "loss_by_history", "shuffled_history"}) {
    for (const char* ending : {".svg", ".png", ".csv"}) {
      CHECK_MESSAGE(std::filesystem::exists(folder / "full" / "figures" / (std::string(name) + ending)),
                    name);
    }
    if (std::string(name) != "early_token_effect")
      CHECK_FALSE(std::filesystem::exists(folder / "plain" / "figures" / (std::string(name) + ".csv")));
  }
}

TEST_CASE("the keyboard reaches everything, headings are in order, nothing has two names") {
  const test::TemporaryFolder folder;
  const std::string page = read_file(write_report(full_comparison(3), folder.path()).page);
  CHECK(contains(page, "<a class=\"skip\" href=\"#answer\">"));
  CHECK(contains(page, " id=\"answer\" tabindex=\"-1\""));
  CHECK_FALSE(contains(page, "<script"));
  // What scrolls can be given the focus and says what it is.
  const std::regex scrolls("<(div class=\"(scroll|drawing)\"|pre)[^>]*>");
  for (std::sregex_iterator match(page.begin(), page.end(), scrolls), end; match != end; ++match) {
    CHECK_MESSAGE(contains(match->str(), "tabindex=\"0\""), match->str());
    CHECK_MESSAGE(contains(match->str(), "role=\"region\""), match->str());
    CHECK_MESSAGE(contains(match->str(), "aria-label"), match->str());
  }
  int level = 0;
  const std::regex heading("<h([1-6])");
  for (std::sregex_iterator match(page.begin(), page.end(), heading), end; match != end; ++match) {
    const int next = std::stoi((*match)[1]);
    CHECK(next <= level + 1);
    level = next;
  }
  std::set<std::string> ids;
  const std::regex id("\\sid=['\"]([^'\"]+)['\"]");
  for (std::sregex_iterator match(page.begin(), page.end(), id), end; match != end; ++match) {
    CHECK_MESSAGE(ids.insert((*match)[1]).second, (*match)[1].str());
  }
  const std::regex label("(aria-labelledby|href)=['\"]#?([^'\"]+)['\"]");
  for (std::sregex_iterator match(page.begin(), page.end(), label), end; match != end; ++match) {
    CHECK_MESSAGE(ids.contains((*match)[2]), (*match)[2].str());
  }
}

TEST_CASE("the report made again is the same, byte for byte") {
  const test::TemporaryFolder folder;
  const Comparison comparison = full_comparison(2);
  const std::string first = read_file(write_report(comparison, folder / "a").page);
  CHECK(read_file(write_report(comparison, folder / "b").page) == first);
  CHECK(read_file(write_report(comparison, folder / "a").page) == first);
  for (const auto& entry : std::filesystem::directory_iterator(folder / "a" / "figures")) {
    CHECK_MESSAGE(read_file(entry.path()) == read_file(folder / "b" / "figures" / entry.path().filename()),
                  entry.path().string());
  }
}

TEST_CASE("a signal while the report is made: stopped, nothing half-written") {
  const test::TemporaryFolder folder;
  const SignalGuard signals;
  test::send_stop_signal(SIGTERM);
  CHECK_THROWS_AS(conclude(full_comparison(2), folder / "a"), Stopped);
  clear_signal();
  CHECK_FALSE(std::filesystem::exists(folder / "a/report.html"));
  CHECK_FALSE(std::filesystem::exists(folder / "a/claims.json"));
}

TEST_CASE("a comparison that is not complete says so first, with what is missing") {
  Comparison comparison = test::sample_comparison(2);
  CHECK(missing_cells(comparison).empty());
  CHECK(missing_text(comparison).empty());
  comparison.cells.pop_back();
  CHECK(missing_cells(comparison) == Row{"learned, seed 1"});
  const test::TemporaryFolder folder;
  const std::string page = read_file(write_report(comparison, folder.path()).page);
  CHECK(contains(page, "Not complete: 1 of 4 models is not there yet (learned, seed 1)."));
  CHECK(page.find("Not complete") < page.find("class=\"answer\""));
  CHECK(contains(page, "Means over 1 to 2 seeds"));
  comparison.config.compare.seeds = 12;
  CHECK(contains(missing_text(comparison), "; and 9 more)"));
}

TEST_CASE("text from outside is text in the page, wherever it stands") {
  const test::TemporaryFolder folder;
  Comparison comparison = full_comparison(1);
  const std::string hostile = "</style><script>alert('1')</script>&\"";
  comparison.text_source = comparison.text_digest = comparison.command = hostile;
  comparison.config.data.source = hostile;
  for (FinishedCell& cell : comparison.cells) {
    if (cell.variant == "rope") cell.variant = hostile;
  }
  comparison.config.compare.encodings = {"learned"};
  comparison.config.compare.variants = {{hostile, {}, {{"positional.kind", "\"rope\""}}}};
  const std::string page = read_file(write_report(comparison, folder.path()).page);
  CHECK_FALSE(contains(page, "<script"));
  const std::size_t style_end = page.find("</style>");
  CHECK(page.find("</style>", style_end + 1) == page.npos);
}

}  // namespace
}  // namespace tapeline
