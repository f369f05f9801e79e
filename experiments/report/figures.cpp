#include "experiments/report/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "experiments/report/tables.h"

namespace tapeline {
namespace {

constexpr std::size_t most_symbols = 24;  // a longer curve is a plain line

std::string times_text(double at, Index train_length) {
  if (train_length == 0) return {};
  return fmt::format("{}×", std::round(100 * at / static_cast<double>(train_length)) / 100);
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

/// The mean over seeds of the loss at each bin of window positions, at one length.
std::vector<FigurePoint> position_points(const std::vector<ResultRow>& rows, const Series& series,
                                         Index length) {
  struct Bin {
    double center = 0;
    std::vector<double> bits;
  };
  std::map<Index, Bin> bins;
  for (const ResultRow& row : rows) {
    const EvaluationResult& result = row.result;
    if (row.name != series.variant || row.evaluation != series.evaluation || result.status != "ok" ||
        result.cell.protocol != Protocol::nonoverlapping || result.cell.subset ||
        result.cell.length != length) {
      continue;
    }
    for (const PositionBin& bin : result.positions) {
      if (bin.tokens == 0) continue;
      Bin& into = bins[bin.first];
      into.center = std::sqrt(static_cast<double>(bin.first) * static_cast<double>(bin.last));
      into.bits.push_back(bin.nll / std::numbers::ln2);
    }
  }
  std::vector<FigurePoint> points;
  for (const auto& [first, bin] : bins) points.push_back({bin.center, estimate(bin.bits).mean});
  return points;
}

}  // namespace

Figure loss_by_length(const Comparison&, const std::vector<Series>& all) {
  Figure figure;
  figure.name = "loss_by_length";
  figure.title = "Loss against length";
  figure.x_label = "length of the evaluated window (tokens; times the trained length)";
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
    Curve curve{series.name, {}};
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
  figure.x_label = "position in the window (tokens)";
  const bool bytes = comparison.config.data.tokenizer == "bytes";
  figure.y_label = bytes ? "bits per byte" : "bits per token";
  const std::vector<ResultRow> rows = result_rows(comparison.cells);
  const std::vector<Index> lengths = table_lengths(all);
  for (const Series& series : all) {
    Curve curve{series.name, {}};
    for (auto length = lengths.rbegin(); length != lengths.rend() && curve.points.empty(); ++length) {
      curve.points = position_points(rows, series, *length);
    }
    curve.show_points = curve.points.size() <= most_symbols;
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
