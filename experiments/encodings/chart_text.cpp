#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "experiments/encodings/chart.h"
#include "experiments/inspect/drawing.h"
#include "experiments/table.h"

namespace tapeline {
namespace {

/// Those lines that have room on a terminal: with many the first, the last and some between.
std::vector<const ChartLine*> shown_lines(const Chart& chart) {
  std::vector<const ChartLine*> named, shown;
  for (const ChartLine& line : chart.lines) {
    if (!line.name.empty() && line.x.size() > 1) named.push_back(&line);
  }
  constexpr std::size_t most = 4;
  const std::size_t count = std::min(most, named.size());
  for (std::size_t i = 0; i < count; ++i) {
    shown.push_back(named[count < 2 ? 0 : i * (named.size() - 1) / (count - 1)]);
  }
  return shown;
}

/// What stands below a curve: where it begins and ends, and the mark.
std::string axis_below(const Chart& chart, const ChartLine& line, const std::string& drawn) {
  const std::string_view bar = "│";
  const std::size_t margin = display_width(std::string_view(drawn).substr(0, drawn.find(bar)));
  std::size_t columns = 0, begin = 0;
  while (begin < drawn.size()) {
    const std::size_t end = drawn.find('\n', begin);
    columns = std::max(columns, display_width(std::string_view(drawn).substr(begin, end - begin)));
    begin = end + 1;
  }
  columns = columns > margin + 1 ? columns - margin - 1 : 0;
  const std::string first = short_value(line.x.front()), last = short_value(line.x.back());
  std::string axis(columns, ' ');
  const auto put = [&](std::size_t at, const std::string& text) {
    if (at + text.size() <= axis.size()) axis.replace(at, text.size(), text);
  };
  put(0, first);
  if (last.size() <= columns) put(columns - last.size(), last);
  const double width = line.x.back() - line.x.front();
  if (std::isfinite(chart.mark_x) && chart.mark_x > line.x.front() && chart.mark_x < line.x.back()) {
    const double share = (chart.mark_x - line.x.front()) / width;
    const auto at = static_cast<std::size_t>(share * static_cast<double>(columns));
    const std::string text = fmt::format("^ {}", chart.mark_label);
    if (at > first.size() && at + text.size() + last.size() < columns) put(at, text);
  }
  axis.erase(axis.find_last_not_of(' ') + 1);
  return fmt::format("{} {}\n", std::string(margin, ' '), axis);
}

/// Every second row of a square has a line, since letters are twice as high as wide.
std::string shades(const ChartHeat& heat, std::size_t width) {
  constexpr std::array<const char*, 5> dark = {" ", "░", "▒", "▓", "█"};
  const std::size_t columns = std::min<std::size_t>({heat.columns.size(), width > 12 ? width - 12 : 8, 48});
  const std::size_t rows = std::max<std::size_t>(columns * heat.rows.size() / heat.columns.size() / 2, 1);
  double most = 0;
  for (const auto& row : heat.values) {
    for (const double value : row) most = std::isfinite(value) ? std::max(most, value) : most;
  }
  std::string text;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t at = row * heat.rows.size() / rows;
    text += fmt::format("{:>8} │", short_value(heat.rows[at]));
    std::string line;
    for (std::size_t column = 0; column < columns; ++column) {
      const double value = heat.values[at][column * heat.columns.size() / columns];
      const double share = most > 0 && std::isfinite(value) ? std::max(value, 0.0) / most : 0;
      line += dark[static_cast<std::size_t>(std::lround(4 * share))];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  const std::string first = short_value(heat.columns.front()), last = short_value(heat.columns.back());
  const std::size_t between = columns > first.size() + last.size() ? columns - first.size() - last.size() : 1;
  return text + fmt::format("{:>10}{}{}{}\n", "", first, std::string(between, ' '), last);
}

}  // namespace

std::string chart_text(const Chart& chart, std::size_t width) {
  const std::size_t room = width == 0 ? 100 : std::min<std::size_t>(width, 100);
  std::string text = hanging("", 0, chart.title, room);
  if (!chart.table.empty()) {
    text += '\n' + chart.table;
  } else if (!chart.heat.values.empty()) {
    text += hanging("", 0,
                    fmt::format("{} down, {} across; {}", chart.y_label, chart.x_label,
                                chart.heat.label.empty() ? std::string("dark: yes")
                                                         : "darker: larger " + chart.heat.label),
                    room) +
            '\n' + shades(chart.heat, room);
  } else {
    text += fmt::format("{} against {}\n", chart.y_label, chart.x_label);
    for (const ChartLine* line : shown_lines(chart)) {
      const std::string drawn = curve(line->y, room, 5);
      text += fmt::format("\n{}\n", line->name);
      text += drawn.empty() ? std::string("  no finite numbers\n") : drawn + axis_below(chart, *line, drawn);
    }
  }
  for (const std::string& note : chart.notes) text += '\n' + hanging("", 0, note, room);
  return text;
}

}  // namespace tapeline
