#include <doctest/doctest.h>

#include <regex>
#include <set>
#include <string>

#include "core/files.h"
#include "experiments/report/early_tokens.h"
#include "experiments/report/figure_script.h"
#include "experiments/report/figures.h"
#include "experiments/report/inline_svg.h"
#include "tests/experiments/comparison_samples.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/text.h"

namespace tapeline {
namespace {

using test::contains;
using test::series_of;

/// How often a text stands in another.
int times_in(const std::string& text, std::string_view part) {
  int times = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++times;
  return times;
}

TEST_CASE("as many curves as colours stand in one chart, more each in a small one, the best first") {
  const std::size_t colours = curve_colours().size();
  const Comparison few = test::many_encodings(static_cast<Index>(colours));
  CHECK(figure_panels(loss_by_length(few, series_of(few))).empty());
  const Comparison many = test::many_encodings(static_cast<Index>(colours) + 1);
  const Figure figure = loss_by_length(many, series_of(many));
  const std::vector<FigurePanel> panels = figure_panels(figure);
  REQUIRE(panels.size() == colours + 1);
  CHECK(panels.front().title == "kind0");
  CHECK(panels.back().title == "kind8");
  for (const FigurePanel& panel : panels) {
    CHECK(panel.curves.size() == 1);
    CHECK(panel.others_behind);
  }
  const test::TemporaryFolder folder;
  draw_figure(figure, folder.path());
  const std::string svg = inline_svg(read_file(folder / "loss_by_length.svg"), figure);
  for (const FigurePanel& panel : panels) CHECK_MESSAGE(contains(svg, ">" + panel.title + "<"), panel.title);
  CHECK(contains(svg, "var(--behind)"));
  CHECK(contains(svg, "grey: all the others"));
  CHECK_FALSE(contains(svg, "gnuplot_plot"));  // an id that every small chart would have
  CHECK_FALSE(std::regex_search(svg, std::regex("#ffffff|rgb\\(", std::regex::icase)));
  CHECK(std::filesystem::file_size(folder / "loss_by_length.png") > 1000);
}

TEST_CASE("a model that ends early stands behind those that go all the way, however good") {
  Comparison comparison = test::many_encodings(9);
  std::erase_if(comparison.cells[0].record.results,
                [](const RecordedResult& recorded) { return recorded.result.cell.length == 128; });
  const std::vector<FigurePanel> panels = figure_panels(loss_by_length(comparison, series_of(comparison)));
  REQUIRE(panels.size() == 9);
  CHECK(panels.front().title == "kind1");
  CHECK(panels.back().title == "kind0");
}

TEST_CASE("curves that name panels share a chart and, by their names, the colours") {
  Comparison comparison = test::sample_comparison(3);
  test::add_early_tokens(comparison);
  const Figure figure = early_token_figure(comparison, series_of(comparison));
  const std::vector<FigurePanel> panels = figure_panels(figure);
  REQUIRE(panels.size() == 2);
  CHECK(panels[0].title == "rope");
  CHECK(panels[0].curves == std::vector<std::size_t>{0, 1});
  CHECK_FALSE(panels[0].others_behind);
  CHECK(contains(figure_csv(figure), "\n\"rope, non-overlapping\",64,"));
  CHECK(contains(figure_csv(figure), "\n\"learned, sliding\",64,"));
  const test::TemporaryFolder folder;
  draw_figure(figure, folder.path());
  const std::string svg = inline_svg(read_file(folder / "early_token_effect.svg"), figure);
  // The colours are told once, above all charts; so are the names of the axes.
  for (const char* words : {">non-overlapping<", ">sliding<", ">bits per byte<", "trained length 64"})
    CHECK_MESSAGE(times_in(svg, words) == 1, words);
  CHECK(contains(svg, "var(--curve0)"));
  CHECK(contains(svg, "var(--curve1)"));
  CHECK_FALSE(contains(svg, "var(--curve2)"));
}

TEST_CASE("a logarithmic axis has ticks at powers of two, and none where a value is not above 0") {
  Figure figure;
  figure.name = "distance";
  figure.x_last = 4;
  figure.y_logarithmic = true;
  figure.curves = {{"a", {{1, 5}, {4, 70}}}};
  const FigureAxes axes = figure_axes(figure, 0);
  CHECK(contains(axes.commands, "set logscale y 2\nset yrange [4:128]"));
  CHECK(contains(axes.y_numbers, "\"4\" 4, \"8\" 8"));
  CHECK_FALSE(contains(axes.y_bare, "\"4\""));
  figure.curves[0].points[0].y = 0;
  CHECK_FALSE(contains(figure_axes(figure, 0).commands, "logscale y"));
}

TEST_CASE("what a figure shows is said: who is lowest and highest at its end, and the ends of each curve") {
  const Comparison comparison = test::many_encodings(3);
  const Figure figure = loss_by_length(comparison, series_of(comparison));
  CHECK_MESSAGE(contains(figure.alternative, " At 128 kind0 is lowest with 3.03, kind2 highest with 3.12."),
                figure.alternative);
  CHECK(contains(figure.alternative, " kind0 2.31 at 64, 3.03 at 128;"));
  const Comparison many = test::many_encodings(9);
  const Figure crowd = loss_by_length(many, series_of(many));
  CHECK(contains(crowd.alternative, "kind8 highest"));
  CHECK_FALSE(contains(crowd.alternative, "kind4"));
}

TEST_CASE("a figure without points is no figure") {
  Figure figure;
  CHECK_FALSE(has_points(figure));
  figure.curves = {{"a", {}}};
  CHECK_FALSE(has_points(figure));
  figure.curves[0].points = {{1, std::nan("")}};
  CHECK_FALSE(has_points(figure));
  figure.curves[0].points.push_back({2, 1});
  CHECK(has_points(figure));
}

}  // namespace
}  // namespace tapeline
