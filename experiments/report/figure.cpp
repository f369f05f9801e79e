#include "experiments/report/figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/files.h"
#include "experiments/compare/results.h"
#include "experiments/report/figure_script.h"
#include "experiments/report/gnuplot.h"

namespace tapeline {

bool has_intervals(const Figure& figure) {
  return std::ranges::any_of(figure.curves, [](const Curve& curve) {
    return std::ranges::any_of(curve.points, [](const FigurePoint& point) { return point.half_width > 0; });
  });
}

bool has_points(const Figure& figure) {
  return std::ranges::any_of(figure.curves, [](const Curve& curve) {
    return std::ranges::any_of(curve.points, [](const FigurePoint& point) { return std::isfinite(point.y); });
  });
}

std::string full_name(const Curve& curve) {
  return curve.panel.empty() ? curve.name : fmt::format("{}, {}", curve.panel, curve.name);
}

const std::vector<CurveColour>& curve_colours() {
  static const std::vector<CurveColour> colours = {
      {"#0072b2", "#5ab4ec"}, {"#d55e00", "#ff8f4d"}, {"#009e73", "#3fd0a4"}, {"#b3568a", "#eba0cd"},
      {"#b07d00", "#f2c14e"}, {"#3a9bd9", "#a5dcfb"}, {"#4d4d4d", "#c8c8c8"}, {"#7a4fb5", "#bfa2ee"}};
  return colours;
}

std::string figure_csv(const Figure& figure) {
  std::string text = "curve,x,y,half_width\n";
  for (const Curve& curve : figure.curves) {
    for (const FigurePoint& point : curve.points) {
      text += fmt::format("{},{},{},{}\n", csv_field(full_name(curve)), csv_number(point.x),
                          csv_number(point.y), csv_number(point.half_width));
    }
  }
  return text;
}

void draw_figure(const Figure& figure, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  write_file(folder / (figure.name + ".csv"), figure_csv(figure));
  const FigureScript script = figure_script(figure);
  const std::string svg =
      fmt::format("set terminal svg size {},{} enhanced font 'sans-serif,{}' background '#ffffff'\n",
                  script.width, script.height, script.font);
  // Twice as many points as the drawing has units; the font in points of 3/4 of a unit and a little less.
  const std::string png = fmt::format(
      "set terminal pngcairo size {},{} enhanced font 'sans-serif,{}' fontscale 2 linewidth 2 pointscale 2 "
      "background '#ffffff'\n",
      2 * script.width, 2 * script.height, script.font - 1);
  write_file(folder / (figure.name + ".svg"), gnuplot_output(svg + script.commands));
  write_file(folder / (figure.name + ".png"), gnuplot_output(png + script.commands));
}

}  // namespace tapeline
