#include "experiments/report/figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <regex>

#include "core/files.h"
#include "experiments/compare/results.h"
#include "experiments/report/gnuplot.h"
#include "experiments/report/html.h"

namespace tapeline {
namespace {

// Ink of the page as it stands in the scripts; inline_svg() turns each into a colour of the page.
constexpr const char* ink = "#222222";
constexpr const char* soft = "#666666";
constexpr const char* grid = "#dddddd";

constexpr std::array<int, 8> symbols = {7, 5, 9, 13, 11, 6, 4, 8};

std::string curve_colour(std::size_t number) {
  const std::vector<CurveColour>& colours = curve_colours();
  return colours[number % colours.size()].light;
}

/// The curves past the last colour take the colours again, dashed and with other symbols.
std::string line_style(std::size_t number) {
  constexpr std::array<const char*, 3> dashes = {"", " dt (8,5)", " dt (2,4)"};
  const std::size_t round = number / curve_colours().size();
  return fmt::format("lc rgb '{}' lw 2.5{} pt {} ps 0.9", curve_colour(number),
                     dashes[std::min(round, dashes.size() - 1)], symbols[(number + round) % symbols.size()]);
}

bool has_interval(const FigurePoint& point) { return point.half_width > 0; }

/// Round steps for the y axis: a few of them between lowest and highest.
struct Scale {
  double lowest = 0, highest = 1, step = 0.1;
};
Scale y_scale(const Figure& figure) {
  // The label of the mark stands in the top of the frame: no curve may run through it.
  const double headroom = figure.mark > 0 ? 0.8 : 0.1;
  double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
  for (const Curve& curve : figure.curves) {
    for (const FigurePoint& point : curve.points) {
      if (!std::isfinite(point.y)) continue;
      const double spread = std::isnan(point.half_width) ? 0 : point.half_width;
      lowest = std::min(lowest, point.y - spread);
      highest = std::max(highest, point.y + spread);
    }
  }
  if (lowest > highest) return {};
  const double range = std::max(highest - lowest, 0.02 * std::abs(highest) + 1e-3);
  const double power = std::pow(10, std::floor(std::log10(range / 5)));
  double step = power;
  for (const double factor : {2.0, 5.0, 10.0}) {
    if (range / step > 7) step = factor * power;
  }
  return {std::floor((lowest - 0.1 * step) / step) * step,
          std::ceil((highest + headroom * step) / step) * step, step};
}

std::string data_blocks(const Figure& figure) {
  std::string text;
  for (std::size_t i = 0; i < figure.curves.size(); ++i) {
    text += fmt::format("$curve{} << END\n", i);
    for (const FigurePoint& point : figure.curves[i].points) {
      if (!std::isfinite(point.y)) continue;
      text +=
          fmt::format("{} {} {}\n", point.x, point.y, std::isnan(point.half_width) ? 0 : point.half_width);
    }
    text += "END\n";
  }
  return text;
}

/// Curves in the order of their right ends, highest first: the legend then reads like the picture.
std::vector<std::size_t> legend_order(const Figure& figure) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < figure.curves.size(); ++i) {
    if (!figure.curves[i].points.empty()) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const FigurePoint &last_a = figure.curves[a].points.back(), &last_b = figure.curves[b].points.back();
    return last_a.x != last_b.x ? last_a.x > last_b.x : last_a.y > last_b.y;
  });
  return order;
}

std::string axes(const Figure& figure) {
  const Scale scale = y_scale(figure);
  std::string tics;
  for (const Tick& tick : figure.ticks) {
    tics += fmt::format("{}\"{}{}{}\" {}", tics.empty() ? "" : ", ", tick.label,
                        tick.below.empty() ? "" : "\\n", tick.below, tick.at);
  }
  const double margin = std::pow(figure.x_last / figure.x_first, 0.04);
  const bool two_lines = std::any_of(figure.ticks.begin(), figure.ticks.end(),
                                     [](const Tick& tick) { return !tick.below.empty(); });
  const int digits = std::max(0, static_cast<int>(-std::floor(std::log10(scale.step) + 1e-9)));
  std::string text = fmt::format(
      "set encoding utf8\nset decimalsign '.'\nset logscale x 2\nset xrange [{}:{}]\nset yrange [{}:{}]\n"
      "set border 3 lc rgb '{}'\nset tics nomirror out scale 0.5 textcolor rgb '{}'\nset xtics ({})\n"
      "set ytics {}\nset format y '%.{}f'\nset grid ytics lt 1 lw 1 lc rgb '{}'\n",
      figure.x_first / margin, figure.x_last * margin, scale.lowest, scale.highest, soft, soft, tics,
      scale.step, digits, grid);
  text += fmt::format(
      "set bmargin {}\nset xlabel {} offset 0,{} noenhanced textcolor rgb '{}'\n"
      "set ylabel {} noenhanced textcolor rgb '{}'\n"
      "set key outside right center Left reverse samplen 2.5 spacing 1.3 noenhanced textcolor rgb '{}'\n",
      two_lines ? 5.5 : 4.0, gnuplot_quoted(figure.x_label), two_lines ? -1.2 : -0.2, ink,
      gnuplot_quoted(figure.y_label), ink, ink);
  if (figure.mark > 0) {
    text += fmt::format(
        "set arrow 1 from {0}, graph 0 to {0}, graph 1 nohead dt (6,4) lw 1.2 lc rgb '{1}'\n"
        "set label 1 {2} at {0}, graph 1 left offset 0.6,-0.6 noenhanced textcolor rgb '{1}'\n",
        figure.mark, soft, gnuplot_quoted(figure.mark_label));
  }
  return text;
}

/// A factor on x that moves a curve a little sideways, so that intervals at one length stand side by side.
double sideways(const Figure& figure, std::size_t curve) {
  const double middle = (static_cast<double>(figure.curves.size()) - 1) / 2;
  return std::pow(figure.x_last / figure.x_first, 0.006 * (static_cast<double>(curve) - middle));
}

std::string plot_command(const Figure& figure) {
  const bool intervals = has_intervals(figure);
  std::string plots;
  for (const std::size_t i : legend_order(figure)) {
    const Curve& curve = figure.curves[i];
    const bool interval = std::ranges::any_of(curve.points, has_interval);
    const std::string x = intervals ? fmt::format("($1*{})", sideways(figure, i)) : std::string("1");
    plots += plots.empty() ? "plot " : ", \\\n  ";
    if (interval) {
      plots += fmt::format("$curve{} using {}:2:3 with yerrorbars lc rgb '{}' lw 1.5 pt 0 notitle, \\\n  ", i,
                           x, curve_colour(i));
    }
    plots += fmt::format("$curve{} using {}:2 with linespoints {} title {}", i, x, line_style(i),
                         gnuplot_quoted(curve.name));
  }
  return plots + "\nunset output\n";
}

std::string rgb_pattern_colour(const std::smatch& match) {
  const auto part = [&](std::size_t i) { return std::atoi(match[i].str().c_str()); };
  return fmt::format("#{:02x}{:02x}{:02x}", part(1), part(2), part(3));
}

/// The page's name of a colour of the scripts.
std::string page_colour(const std::string& colour) {
  if (colour == ink) return "var(--ink)";
  if (colour == soft) return "var(--soft)";
  if (colour == grid) return "var(--grid)";
  const std::vector<CurveColour>& colours = curve_colours();
  for (std::size_t i = 0; i < colours.size(); ++i) {
    if (colour == colours[i].light) return fmt::format("var(--curve{})", i);
  }
  return colour;
}

}  // namespace

bool has_intervals(const Figure& figure) {
  return std::ranges::any_of(
      figure.curves, [](const Curve& curve) { return std::ranges::any_of(curve.points, has_interval); });
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
      text += fmt::format("{},{},{},{}\n", csv_field(curve.name), csv_number(point.x), csv_number(point.y),
                          csv_number(point.half_width));
    }
  }
  return text;
}

void draw_figure(const Figure& figure, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  write_file(folder / (figure.name + ".csv"), figure_csv(figure));
  const std::string common = data_blocks(figure) + axes(figure);
  const std::string plot = plot_command(figure);
  const std::string svg =
      "set terminal svg size 860,440 enhanced font 'sans-serif,14' background '#ffffff'\n";
  const std::string png =
      "set terminal pngcairo size 1720,880 enhanced font 'sans-serif,13' fontscale 2 linewidth 2 pointscale "
      "2 "
      "background '#ffffff'\n";
  write_file(folder / (figure.name + ".svg"), gnuplot_output(svg + common + plot));
  write_file(folder / (figure.name + ".png"), gnuplot_output(png + common + plot));
}

std::string inline_svg(const std::string& svg, const Figure& figure) {
  std::string text = svg.substr(std::min(svg.find("<svg"), svg.size()));
  text = std::regex_replace(text, std::regex("<title>[^<]*</title>|<desc>[^<]*</desc>"), "");
  text = std::regex_replace(text, std::regex(" *xmlns(:xlink)?=\"[^\"]*\""), "");
  // The ground is the page's own.
  text = std::regex_replace(text, std::regex("<rect x=\"0\" y=\"0\"[^>]*/>"), "");
  text = std::regex_replace(text, std::regex("(id=['\"]|href=['\"]#)"), "$1" + figure.name + "-");
  text = std::regex_replace(text, std::regex("xlink:href"), "href");
  // So is what gnuplot clears under the points of interval bars.
  text = std::regex_replace(text, std::regex("#ffffff", std::regex::icase), "var(--ground)");
  text = std::regex_replace(text, std::regex("<svg[^v]*width=\"[^\"]*\" height=\"[^\"]*\""),
                            "<svg role=\"img\" aria-label=\"" + html_escape(figure.alternative) + "\"");
  const std::regex colour("rgb\\( *([0-9]+), *([0-9]+), *([0-9]+)\\)");
  std::string themed;
  std::size_t done = 0;
  for (std::sregex_iterator match(text.begin(), text.end(), colour), end; match != end; ++match) {
    const auto at = static_cast<std::size_t>(match->position());
    themed += text.substr(done, at - done) + page_colour(rgb_pattern_colour(*match));
    done = at + static_cast<std::size_t>(match->length());
  }
  return themed + text.substr(done);
}

}  // namespace tapeline
