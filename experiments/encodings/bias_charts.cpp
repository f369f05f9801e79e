#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "experiments/encodings/portrait.h"

namespace tapeline {
namespace {

ChartLine bias_line(std::string name, const std::vector<double>& bias, std::size_t colour) {
  ChartLine line{.name = std::move(name), .x = {}, .y = bias, .colour = colour};
  for (std::size_t distance = 0; distance < bias.size(); ++distance) {
    line.x.push_back(static_cast<double>(distance));
  }
  return line;
}

/// The slope of a straight line through 0; nullopt for any other.
std::optional<double> straight_slope(const std::vector<double>& bias) {
  if (bias.size() < 3) return std::nullopt;
  const double slope = bias.back() / static_cast<double>(bias.size() - 1);
  for (std::size_t distance = 0; distance < bias.size(); ++distance) {
    const double line = slope * static_cast<double>(distance);
    if (std::abs(bias[distance] - line) > 1e-5 * std::abs(bias.back())) return std::nullopt;
  }
  return slope;
}

double spread_of(const std::vector<double>& bias) {
  const auto [least, most] = std::ranges::minmax_element(bias);
  return *most - *least;
}

bool all_zero(const BiasView& view) {
  return std::ranges::all_of(view.bias, [](const auto& rows) {
    return std::ranges::all_of(rows, [](const auto& bias) {
      return std::ranges::all_of(bias, [](double value) { return value == 0; });
    });
  });
}

/// By head, seen from one row of `view.rows`.
Chart heads_chart(const PortraitPart& part, const BiasView& view, std::size_t row) {
  Chart chart{.name = part.name + "_bias",
              .title = fmt::format("{}: added to the scores, by head", part.title),
              .x_label = "distance of the key, i - j",
              .y_label = "bias",
              .mark_label = {},
              .lines = {},
              .heat = {},
              .notes = {},
              .table = {}};
  if (view.by_row) chart.title += fmt::format(", seen from row {}", view.rows[row] + 1);
  std::vector<std::string> slopes;
  std::size_t colour = 0;
  const Index heads = static_cast<Index>(view.bias.size());
  for (const Index head : spread_over(heads, 8)) {
    const std::vector<double>& bias = view.bias[static_cast<std::size_t>(head)][row];
    chart.lines.push_back(bias_line(fmt::format("head {}", head + 1), bias, colour++));
  }
  for (const auto& rows : view.bias) {
    if (const std::optional<double> slope = straight_slope(rows[row])) {
      slopes.push_back(fmt::format("{:.6g}", *slope));
    }
  }
  if (all_zero(view)) {
    chart.notes.emplace_back("All numbers are 0.");
  } else if (static_cast<Index>(slopes.size()) == heads) {
    chart.notes.push_back(fmt::format("Straight lines, of the slopes {}.", fmt::join(slopes, ", ")));
  }
  if (heads > 8) chart.notes.push_back(fmt::format("8 of {} heads are drawn.", heads));
  mark_trained_length(chart, part.view.plan().train_length, view.rows[row] + 1);
  return chart;
}

/// One head, seen from several rows.
Chart rows_chart(const PortraitPart& part, const BiasView& view) {
  std::size_t head = 0;
  for (std::size_t other = 1; other < view.bias.size(); ++other) {
    if (spread_of(view.bias[other].back()) > spread_of(view.bias[head].back())) head = other;
  }
  Chart chart{
      .name = part.name + "_bias_by_row",
      .title =
          fmt::format("{}: added to the scores of head {}, seen from several rows", part.title, head + 1),
      .x_label = "distance of the key, i - j",
      .y_label = "bias",
      .mark_label = {},
      .lines = {},
      .heat = {},
      .notes =
          {"It is no function of the distance alone: the same distance gives another bias in another row."},
      .table = {}};
  for (std::size_t row = 0; row < view.rows.size(); ++row) {
    chart.lines.push_back(bias_line(fmt::format("row {}", view.rows[row] + 1), view.bias[head][row], row));
  }
  mark_trained_length(chart, part.view.plan().train_length, part.length);
  return chart;
}

}  // namespace

std::vector<Chart> bias_charts(const PortraitPart& part) {
  const std::optional<BiasView> view = view_bias(part.view, part.layer, part.length);
  if (!view) return {};
  std::vector<Chart> charts = {heads_chart(part, *view, view->rows.size() - 1)};
  if (view->by_row) charts.push_back(rows_chart(part, *view));
  return charts;
}

}  // namespace tapeline
