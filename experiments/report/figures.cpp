#include "experiments/report/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numbers>

#include "experiments/report/tables.h"

namespace tapeline {
namespace {

std::string times_text(double at, Index train_length) {
  if (train_length == 0) return {};
  return fmt::format("{}×", std::round(100 * at / static_cast<double>(train_length)) / 100);
}

/// With the trained length where these differ.
std::string curve_name(const Series& series, const std::vector<Series>& all) {
  return common_train_length(all) != 0
             ? series.name
             : fmt::format("{} (trained at {})", series.name, number_text(series.train_length));
}

void add_mark(Figure& figure, const std::vector<Series>& all) {
  const Index length = common_train_length(all);
  if (length == 0) return;
  figure.mark = static_cast<double>(length);
  figure.mark_label = fmt::format("trained length {}", number_text(length));
}

/// "alibi 2.40 at 64, 2.38 at 1,024": first and last point of every curve.
std::string ends_text(const Figure& figure) {
  std::string text;
  for (const Curve& curve : figure.curves) {
    if (curve.points.empty()) continue;
    const FigurePoint &first = curve.points.front(), &last = curve.points.back();
    text += fmt::format("{} {} {:.2f} at {}", text.empty() ? "" : ";", curve.name, first.y,
                        number_text(std::llround(first.x)));
    if (curve.points.size() > 1)
      text += fmt::format(", {:.2f} at {}", last.y, number_text(std::llround(last.x)));
  }
  return text;
}

/// The loss at window positions 1, 2, 3-4, 5-8, 9-16, ... at one length, over all seeds: a position alone is
/// seen once a window, too seldom to be drawn.
std::vector<FigurePoint> position_points(const std::vector<ResultRow>& rows, const Series& series,
                                         Index length) {
  struct Octave {
    Index first = 0, last = 0;
    double total = 0, tokens = 0;
  };
  std::map<unsigned, Octave> octaves;
  for (const ResultRow& row : rows) {
    const EvaluationResult& result = row.result;
    if (row.name != series.variant || row.evaluation != series.evaluation || result.status != "ok" ||
        result.cell.protocol != Protocol::nonoverlapping || result.cell.subset ||
        result.cell.length != length) {
      continue;
    }
    for (const PositionBin& bin : result.positions) {
      if (bin.tokens == 0) continue;
      Octave& into = octaves[std::bit_width(static_cast<std::uint64_t>(bin.last - 1))];
      if (into.first == 0 || bin.first < into.first) into.first = bin.first;
      into.last = std::max(into.last, bin.last);
      into.total += bin.nll * static_cast<double>(bin.tokens);
      into.tokens += static_cast<double>(bin.tokens);
    }
  }
  std::vector<FigurePoint> points;
  for (const auto& [number, octave] : octaves) {
    points.push_back({std::sqrt(static_cast<double>(octave.first) * static_cast<double>(octave.last)),
                      octave.total / octave.tokens / std::numbers::ln2});
  }
  return points;
}

}  // namespace

Figure loss_by_length(const Comparison& comparison, const std::vector<Series>& all) {
  Figure figure;
  figure.name = "loss_by_length";
  figure.title = "Loss against length";
  figure.x_label = fmt::format("length of the evaluated window ({}{})", token_unit(comparison),
                               common_train_length(all) == 0 ? "" : "; times the trained length");
  figure.y_label = "bits per byte";
  const std::vector<Index> lengths = table_lengths(all);
  for (const Index length : lengths) {
    figure.ticks.push_back({static_cast<double>(length), number_text(length),
                            times_text(static_cast<double>(length), common_train_length(all))});
  }
  if (!lengths.empty()) {
    figure.x_first = static_cast<double>(lengths.front());
    figure.x_last = static_cast<double>(std::max(lengths.back(), lengths.front() + 1));
  }
  for (const Series& series : all) {
    Curve curve{curve_name(series, all), {}};
    for (const Index length : lengths) {
      const SeriesPoint* point = series.at(length);
      if (point == nullptr || point->bits_per_byte.count == 0) continue;
      curve.points.push_back(
          {static_cast<double>(length), point->bits_per_byte.mean, point->bits_per_byte.half_width});
    }
    figure.curves.push_back(std::move(curve));
  }
  add_mark(figure, all);
  figure.alternative =
      "Line chart of bits per byte against the length of the evaluated window, non-overlapping windows:" +
      ends_text(figure) + ".";
  return figure;
}

Figure loss_by_position(const Comparison& comparison, const std::vector<Series>& all) {
  Figure figure;
  figure.name = "loss_by_position";
  figure.title = "Loss by position in the window";
  figure.x_label = fmt::format("position in the window ({})", token_unit(comparison));
  const bool bytes = comparison.config.data.tokenizer == "bytes";
  figure.y_label = bytes ? "bits per byte" : "bits per token";
  const std::vector<ResultRow> rows = result_rows(comparison.cells);
  const std::vector<Index> lengths = table_lengths(all);
  for (const Series& series : all) {
    Curve curve{curve_name(series, all), {}};
    for (auto length = lengths.rbegin(); length != lengths.rend() && curve.points.empty(); ++length) {
      curve.points = position_points(rows, series, *length);
      if (!curve.points.empty() && *length != lengths.back())
        curve.name += fmt::format(", windows of {}", number_text(*length));
    }
    for (const FigurePoint& point : curve.points) figure.x_last = std::max(figure.x_last, point.x);
    figure.curves.push_back(std::move(curve));
  }
  if (!lengths.empty()) figure.x_last = std::max(figure.x_last, static_cast<double>(lengths.back()));
  for (Index at = 1; static_cast<double>(at) <= figure.x_last; at *= 2) {
    figure.ticks.push_back({static_cast<double>(at), number_text(at), {}});
  }
  add_mark(figure, all);
  figure.alternative = fmt::format("Line chart of {} against the position in the window:{}.", figure.y_label,
                                   ends_text(figure));
  return figure;
}

}  // namespace tapeline
