#include "experiments/report/figure_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "experiments/report/figure_multiples.h"
#include "experiments/report/gnuplot.h"

namespace tapeline {
namespace {

constexpr std::array<int, 8> symbols = {7, 5, 9, 13, 11, 6, 4, 8};

/// The lowest and highest value drawn, intervals included; lowest above highest: none.
struct ValueRange {
  double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
};
ValueRange value_range(const Figure& figure) {
  ValueRange range;
  for (const Curve& curve : figure.curves) {
    for (const FigurePoint& point : curve.points) {
      if (!std::isfinite(point.y)) continue;
      const double spread = std::isfinite(point.half_width) ? point.half_width : 0;
      // Down to nothing no logarithmic axis goes: an interval may, its value does not.
      const double low = figure.y_logarithmic ? std::max(point.y - spread, point.y / 2) : point.y - spread;
      range.lowest = std::min(range.lowest, low);
      range.highest = std::max(range.highest, point.y + spread);
    }
  }
  return range;
}

/// Ticks at powers of two.
FigureAxes logarithmic_axis(const ValueRange& range, double headroom) {
  const double first = std::floor(std::log2(range.lowest)), last = std::ceil(std::log2(range.highest));
  std::string numbers, bare;
  for (double power = first; power <= last; ++power) {
    const double at = std::exp2(power);
    const char* comma = numbers.empty() ? "" : ", ";
    numbers += fmt::format("{}\"{:g}\" {}", comma, at, at);
    bare += fmt::format("{}\"\" {}", comma, at);
  }
  return {fmt::format("set logscale y 2\nset yrange [{}:{}]\n", std::exp2(first),
                      std::exp2(last + 0.3 * headroom)),
          fmt::format("set ytics ({})\n", numbers), fmt::format("set ytics ({})\n", bare)};
}

/// Round steps, a few of them between lowest and highest.
FigureAxes linear_axis(const ValueRange& range, double headroom) {
  const double spread = std::max(range.highest - range.lowest, 0.02 * std::abs(range.highest) + 1e-3);
  const double power = std::pow(10, std::floor(std::log10(spread / 5)));
  double step = power;
  for (const double factor : {2.0, 5.0, 10.0}) {
    if (spread / step > 7) step = factor * power;
  }
  const double lowest = std::floor((range.lowest - 0.1 * step) / step) * step;
  const double highest = std::ceil((range.highest + headroom * step) / step) * step;
  const int digits = std::max(0, static_cast<int>(-std::floor(std::log10(step) + 1e-9)));
  return {fmt::format("set yrange [{}:{}]\n", lowest, highest),
          fmt::format("set ytics {}\nset format y '%.{}f'\n", step, digits),
          fmt::format("set ytics {}\nset format y ''\n", step)};
}

/// All of one chart but its curves.
std::string single_axes(const Figure& figure) {
  std::string tics;
  for (const Tick& tick : figure.ticks) {
    tics += fmt::format("{}\"{}{}{}\" {}", tics.empty() ? "" : ", ", tick.label,
                        tick.below.empty() ? "" : "\\n", tick.below, tick.at);
  }
  const bool two_lines =
      std::ranges::any_of(figure.ticks, [](const Tick& tick) { return !tick.below.empty(); });
  // The label of the mark stands in the top of the frame: no curve may run through it.
  const FigureAxes ranges = figure_axes(figure, figure.mark > 0 ? 0.8 : 0.1);
  std::string text = ranges.commands + ranges.y_numbers;
  text += fmt::format(
      "set xtics ({})\nset bmargin {}\nset xlabel {} offset 0,{} noenhanced textcolor rgb '{}'\n"
      "set ylabel {} noenhanced textcolor rgb '{}'\n"
      "set key outside right center Left reverse samplen 2.5 spacing 1.3 noenhanced textcolor rgb '{}'\n",
      tics, two_lines ? 5.5 : 4.0,
      gnuplot_quoted(two_lines ? fmt::format("{} (below: {})", figure.x_label, figure.below_label)
                               : figure.x_label),
      two_lines ? -1.2 : -0.2, figure_ink, gnuplot_quoted(figure.y_label), figure_ink, figure_ink);
  if (figure.mark > 0) text += gnuplot_mark(figure.mark, figure_soft, figure.mark_label);
  return text;
}

std::string single_plot(const Figure& figure) {
  std::string plots;
  for (const std::size_t number : by_right_ends(figure)) {  // the legend then reads like the picture
    plots += plots.empty() ? "plot " : ", \\\n  ";
    plots += curve_plot(figure, number, number, sideways_factor(figure, number, figure.curves.size()),
                        figure.curves[number].name);
  }
  return plots + "\nunset output\n";
}

}  // namespace

std::string curve_colour(std::size_t number) {
  const std::vector<CurveColour>& colours = curve_colours();
  return colours[number % colours.size()].light;
}

std::string curve_style(std::size_t number) {
  return fmt::format("lc rgb '{}' lw 2.5 pt {} ps 0.9", curve_colour(number),
                     symbols[number % symbols.size()]);
}

std::string curve_data(const Figure& figure) {
  std::string text;
  for (std::size_t i = 0; i < figure.curves.size(); ++i) {
    text += fmt::format("$curve{} << END\n", i);
    for (const FigurePoint& point : figure.curves[i].points) {
      if (!std::isfinite(point.y)) continue;
      text +=
          fmt::format("{} {} {}\n", point.x, point.y, std::isfinite(point.half_width) ? point.half_width : 0);
    }
    text += "END\n";
  }
  return text;
}

FigureAxes figure_axes(const Figure& figure, double headroom) {
  const double margin = std::pow(figure.x_last / figure.x_first, 0.04);
  const std::string common = fmt::format(
      "set encoding utf8\nset decimalsign '.'\nset logscale x 2\nset xrange [{}:{}]\n"
      "set border 3 lc rgb '{}'\nset tics nomirror out scale 0.5 textcolor rgb '{}'\n"
      "set grid ytics lt 1 lw 1 lc rgb '{}'\n",
      figure.x_first / margin, figure.x_last * margin, figure_soft, figure_soft, figure_grid);
  ValueRange range = value_range(figure);
  if (range.lowest > range.highest) range = {0, 1};
  FigureAxes axes = figure.y_logarithmic && range.lowest > 0 ? logarithmic_axis(range, headroom)
                                                             : linear_axis(range, headroom);
  axes.commands = common + axes.commands;
  return axes;
}

std::vector<std::size_t> by_right_ends(const Figure& figure) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < figure.curves.size(); ++i) {
    if (!figure.curves[i].points.empty()) order.push_back(i);
  }
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    const FigurePoint &last_a = figure.curves[a].points.back(), &last_b = figure.curves[b].points.back();
    return last_a.x != last_b.x ? last_a.x > last_b.x : last_a.y > last_b.y;
  });
  return order;
}

std::string curve_plot(const Figure& figure, std::size_t number, std::size_t style, double sideways,
                       const std::string& title) {
  const std::string x = sideways == 1 ? std::string("1") : fmt::format("($1*{})", sideways);
  std::string plots;
  if (std::ranges::any_of(figure.curves[number].points,
                          [](const FigurePoint& point) { return point.half_width > 0; })) {
    plots = fmt::format("$curve{} using {}:2:3 with yerrorbars lc rgb '{}' lw 1.5 pt 0 notitle, \\\n  ",
                        number, x, curve_colour(style));
  }
  return plots + fmt::format("$curve{} using {}:2 with linespoints {} {}", number, x, curve_style(style),
                             title.empty() ? "notitle" : "title " + gnuplot_quoted(title));
}

double sideways_factor(const Figure& figure, std::size_t place, std::size_t count) {
  if (!has_intervals(figure)) return 1;
  const double middle = (static_cast<double>(count) - 1) / 2;
  return std::pow(figure.x_last / figure.x_first, 0.006 * (static_cast<double>(place) - middle));
}

FigureScript figure_script(const Figure& figure) {
  const std::vector<FigurePanel> panels = figure_panels(figure);
  if (!panels.empty()) return small_multiples(figure, panels);
  FigureScript script;
  script.commands = curve_data(figure) + single_axes(figure) + single_plot(figure);
  return script;
}

}  // namespace tapeline
