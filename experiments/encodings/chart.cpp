#include "experiments/encodings/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/files.h"
#include "experiments/compare/results.h"
#include "experiments/report/figure.h"
#include "experiments/report/gnuplot.h"

namespace tapeline {
namespace {

constexpr const char* chart_ink = "#222222";
constexpr const char* chart_soft = "#666666";
constexpr const char* chart_grid = "#dddddd";

const char* colour_of(const ChartLine& line) {
  return curve_colours()[line.colour % curve_colours().size()].light;
}

bool is_heat(const Chart& chart) { return !chart.heat.values.empty(); }

struct Span {
  double lowest = std::numeric_limits<double>::infinity();
  double highest = -std::numeric_limits<double>::infinity();
  void hold(double value) {
    if (!std::isfinite(value)) return;
    lowest = std::min(lowest, value);
    highest = std::max(highest, value);
  }
  bool empty() const { return lowest > highest; }
};

/// Somewhat more than the numbers take, so that no line runs along the frame.
std::string range_text(Span span, bool logarithmic, double share) {
  if (span.empty()) return "[*:*]";
  if (logarithmic) {
    const double factor = std::pow(std::max(span.highest / span.lowest, 1.5), share);
    return fmt::format("[{}:{}]", span.lowest / factor, span.highest * factor);
  }
  if (span.lowest == span.highest) {
    const double room = span.lowest == 0 ? 1 : 0.2 * std::abs(span.lowest);
    return fmt::format("[{}:{}]", span.lowest - room, span.highest + room);
  }
  const double room = share * std::max(span.highest - span.lowest, 1e-3 * std::abs(span.highest) + 1e-6);
  return fmt::format("[{}:{}]", span.lowest - room, span.highest + room);
}

std::string common_script(const Chart& chart) {
  return fmt::format(
      "set encoding utf8\nset decimalsign '.'\nset minussign\n"
      "set title {} noenhanced textcolor rgb '{}'\n"
      "set border 3 lc rgb '{}'\nset tics nomirror out scale 0.5 textcolor rgb '{}'\n"
      "set xlabel {} noenhanced textcolor rgb '{}'\nset ylabel {} noenhanced textcolor rgb '{}'\n",
      gnuplot_quoted(chart.title), chart_ink, chart_soft, chart_soft, gnuplot_quoted(chart.x_label),
      chart_ink, gnuplot_quoted(chart.y_label), chart_ink);
}

std::string line_blocks(const Chart& chart) {
  std::string text;
  for (std::size_t i = 0; i < chart.lines.size(); ++i) {
    text += fmt::format("$line{} << END\n", i);
    const ChartLine& line = chart.lines[i];
    for (std::size_t n = 0; n < line.x.size(); ++n) {
      // An empty line is a gap.
      text += std::isfinite(line.y[n]) ? fmt::format("{} {}\n", line.x[n], line.y[n]) : std::string("\n");
    }
    text += "END\n";
  }
  return text;
}

std::string marks(const Chart& chart) {
  std::string text;
  if (std::isfinite(chart.mark_x)) text += gnuplot_mark(chart.mark_x, chart_soft, chart.mark_label);
  if (std::isfinite(chart.mark_y)) {
    text += fmt::format(
        "set arrow 2 from graph 0, first {0} to graph 1, first {0} nohead dt (6,4) lw 1.2 lc rgb '{1}'\n"
        "set label 2 {2} at graph 1, first {0} right offset -0.6,-0.6 noenhanced textcolor rgb '{1}'\n",
        chart.mark_y, chart_soft, gnuplot_quoted(chart.mark_label));
  }
  return text;
}

std::string line_script(const Chart& chart) {
  Span across, up;
  for (const ChartLine& line : chart.lines) {
    for (std::size_t n = 0; n < line.x.size(); ++n) {
      if (std::isfinite(line.y[n])) across.hold(line.x[n]), up.hold(line.y[n]);
    }
  }
  across.hold(chart.mark_x);
  up.hold(chart.mark_y);
  // The label of a vertical mark stands in the top of the frame: no curve may run through it.
  if (std::isfinite(chart.mark_x) && up.lowest < up.highest) {
    up.highest += 0.1 * (up.highest - up.lowest);
  }
  std::string text = line_blocks(chart) + common_script(chart) + marks(chart);
  text += fmt::format(
      "set bmargin 4\nset grid ytics lt 1 lw 1 lc rgb '{}'\nset xrange {}\nset yrange {}\n"
      "set key outside right center Left reverse samplen 2.5 spacing 1.3 noenhanced textcolor rgb '{}'\n",
      chart_grid, range_text(across, chart.log_x, 0.01), range_text(up, chart.log_y, 0.04), chart_ink);
  if (chart.log_x) text += "set logscale x 2\n";
  if (chart.log_y) text += "set logscale y 10\nset format y '%.0f'\n";
  std::string plots;
  int named = 0;
  for (std::size_t i = 0; i < chart.lines.size(); ++i) {
    const ChartLine& line = chart.lines[i];
    plots += plots.empty() ? "plot " : ", \\\n  ";
    const char* style = !line.joined ? "points" : line.symbol == ChartSymbol::none ? "lines" : "linespoints";
    plots += fmt::format("$line{} using 1:2 with {} lc rgb '{}'", i, style, colour_of(line));
    if (line.joined) plots += line.dashed ? " lw 1.5 dt (6,4)" : " lw 2.5";
    if (!line.joined || line.symbol != ChartSymbol::none) {
      plots += fmt::format(" lw 2 pt {} ps 1", line.symbol == ChartSymbol::open ? 6 : 7);
    }
    plots += line.name.empty() ? " notitle" : fmt::format(" title {}", gnuplot_quoted(line.name));
    named += line.name.empty() ? 0 : 1;
  }
  return (named > 1 ? text : text + "set key off\n") + plots + "\nunset output\n";
}

std::string heat_script(const Chart& chart) {
  const ChartHeat& heat = chart.heat;
  std::string text = "$heat << END\n";
  Span span;
  for (std::size_t row = 0; row < heat.rows.size(); ++row) {
    for (std::size_t column = 0; column < heat.columns.size(); ++column) {
      const double value = heat.values[row][column];
      span.hold(value);
      text += fmt::format("{} {} {}\n", heat.columns[column], heat.rows[row],
                          std::isfinite(value) ? fmt::format("{}", value) : std::string("NaN"));
    }
    text += '\n';
  }
  text += "END\n" + common_script(chart);
  // White is 0: what is alike and what is opposite have colours of their own.
  const double most = span.empty() ? 1 : std::max({std::abs(span.lowest), std::abs(span.highest), 1e-9});
  const bool signs = !span.empty() && span.lowest < 0;
  text += signs ? fmt::format(
                      "set palette defined (0 '#d55e00', 0.5 '#ffffff', 1 '#0072b2')\nset cbrange [{}:{}]\n",
                      -most, most)
                : fmt::format("set palette defined (0 '#ffffff', 1 '#0072b2')\nset cbrange [0:{}]\n", most);
  const auto half = [](const std::vector<double>& at) { return at.size() < 2 ? 0.5 : (at[1] - at[0]) / 2; };
  text += fmt::format(
      "unset key\nset size ratio -1\nset xrange [{}:{}]\nset yrange [{}:{}]\n"
      "set cblabel {} noenhanced textcolor rgb '{}'\n{} colorbox\n"
      "plot $heat using 1:2:3 with image\nunset output\n",
      heat.columns.front() - half(heat.columns), heat.columns.back() + half(heat.columns),
      heat.rows.back() + half(heat.rows), heat.rows.front() - half(heat.rows), gnuplot_quoted(heat.label),
      chart_ink, heat.label.empty() ? "unset" : "set");
  return text;
}

}  // namespace

std::string chart_csv(const Chart& chart) {
  std::string text;
  if (is_heat(chart)) {
    text = "row,column,value\n";
    for (std::size_t row = 0; row < chart.heat.rows.size(); ++row) {
      for (std::size_t column = 0; column < chart.heat.columns.size(); ++column) {
        text +=
            fmt::format("{},{},{}\n", csv_number(chart.heat.rows[row]),
                        csv_number(chart.heat.columns[column]), csv_number(chart.heat.values[row][column]));
      }
    }
    return text;
  }
  text = "line,x,y\n";
  for (const ChartLine& line : chart.lines) {
    if (line.name.empty()) continue;
    for (std::size_t n = 0; n < line.x.size(); ++n) {
      text += fmt::format("{},{},{}\n", csv_field(line.name), csv_number(line.x[n]), csv_number(line.y[n]));
    }
  }
  return text;
}

nlohmann::ordered_json chart_json(const Chart& chart) {
  nlohmann::ordered_json json = {{"name", chart.name},
                                 {"title", chart.title},
                                 {"x_label", chart.x_label},
                                 {"y_label", chart.y_label},
                                 {"notes", chart.notes}};
  if (is_heat(chart)) {
    json["rows"] = chart.heat.rows;
    json["columns"] = chart.heat.columns;
    json["values"] = chart.heat.values;
    return json;
  }
  json["lines"] = nlohmann::ordered_json::array();
  for (const ChartLine& line : chart.lines) {
    if (!line.name.empty()) json["lines"].push_back({{"name", line.name}, {"x", line.x}, {"y", line.y}});
  }
  return json;
}

void write_chart_csv(const Chart& chart, const std::filesystem::path& folder) {
  write_file(folder / (chart.name + ".csv"), chart_csv(chart));
}

std::vector<std::filesystem::path> draw_chart(const Chart& chart, const std::filesystem::path& folder) {
  const auto path = [&](const char* extension) { return folder / (chart.name + extension); };
  write_chart_csv(chart, folder);
  const std::string script = is_heat(chart) ? heat_script(chart) : line_script(chart);
  const int height = is_heat(chart) ? 620 : 440, width = is_heat(chart) ? 760 : 860;
  write_file(path(".svg"), gnuplot_output(fmt::format(
                               "set terminal svg size {},{} enhanced font 'sans-serif,14' background "
                               "'#ffffff'\n{}",
                               width, height, script)));
  write_file(path(".png"),
             gnuplot_output(fmt::format("set terminal pngcairo size {},{} enhanced font 'sans-serif,13' "
                                        "fontscale 2 linewidth 2 pointscale 2 background '#ffffff'\n{}",
                                        2 * width, 2 * height, script)));
  return {path(".svg"), path(".png"), path(".csv")};
}

}  // namespace tapeline
