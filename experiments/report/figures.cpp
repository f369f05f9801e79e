#include "experiments/report/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numbers>

#include "experiments/report/figure_text.h"
#include "experiments/report/variants.h"

namespace tapeline {
namespace {

/// Window positions that are looked at together, over all seeds: 1, 2, 3-4, 5-8, 9-16, ... A position alone
/// is seen once a window, too seldom to be drawn.
struct Octave {
  Index first = 0, last = 0;
  double total = 0, tokens = 0;  ///< nats over that many targets
  double bits() const { return total / tokens / std::numbers::ln2; }
};

std::vector<Octave> position_octaves(const std::vector<ResultRow>& rows, const Series& series, Index length) {
  std::map<unsigned, Octave> octaves;
  for (const ResultRow& row : rows) {
    const EvaluationResult& result = row.result;
    if (row.name != series.variant || row.evaluation != series.evaluation || result.status != "ok" ||
        !result.cell.on_whole_set() || result.cell.length != length) {
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
  std::vector<Octave> all;
  for (const auto& [number, octave] : octaves) all.push_back(octave);
  return all;
}

/// A series in the longest windows that it was evaluated at.
struct PositionCurve {
  std::string name;  ///< with the length, where it is not the longest of all
  std::vector<Octave> octaves;
};
PositionCurve position_curve(const std::vector<ResultRow>& rows, const Series& series,
                             const std::vector<Series>& all) {
  PositionCurve curve{curve_name(series, all), {}};
  const std::vector<Index> lengths = table_lengths(all);
  for (auto length = lengths.rbegin(); length != lengths.rend() && curve.octaves.empty(); ++length) {
    curve.octaves = position_octaves(rows, series, *length);
    if (!curve.octaves.empty() && *length != lengths.back())
      curve.name += fmt::format(", windows of {}", number_text(*length));
  }
  return curve;
}

std::string position_unit(const Comparison& comparison) {
  return comparison.config.data.tokenizer == "bytes" ? "bits per byte" : "bits per token";
}

}  // namespace

Figure loss_by_length(const Comparison& comparison, const std::vector<Series>& all) {
  Figure figure;
  figure.name = "loss_by_length";
  figure.title = "Loss against length";
  figure.y_label = "bits per byte";
  for (const Series& series : all) {
    Curve curve{curve_name(series, all), {}};
    for (const Index length : table_lengths(all)) {
      const SeriesPoint* point = series.at(length);
      if (point == nullptr || point->bits_per_byte.count == 0) continue;
      curve.points.push_back(
          {static_cast<double>(length), point->bits_per_byte.mean, point->bits_per_byte.half_width});
    }
    figure.curves.push_back(std::move(curve));
  }
  set_length_axis(figure, comparison, all);
  figure.alternative =
      "Line chart of bits per byte against the length of the evaluated window, non-overlapping windows." +
      finding_text(figure) + ends_text(figure);
  return figure;
}

Figure loss_by_position(const Comparison& comparison, const std::vector<Series>& all) {
  Figure figure;
  figure.name = "loss_by_position";
  figure.title = "Loss by position in the window";
  figure.x_label = fmt::format("position in the window ({})", token_unit(comparison));
  figure.y_label = position_unit(comparison);
  const std::vector<ResultRow> rows = result_rows(comparison.cells);
  const std::vector<Index> lengths = table_lengths(all);
  for (const Series& series : all) {
    const PositionCurve found = position_curve(rows, series, all);
    Curve curve{found.name, {}};
    for (const Octave& octave : found.octaves) {
      const double middle = std::sqrt(static_cast<double>(octave.first) * static_cast<double>(octave.last));
      curve.points.push_back({middle, octave.bits()});
      figure.x_last = std::max(figure.x_last, middle);
    }
    figure.curves.push_back(std::move(curve));
  }
  if (!lengths.empty()) figure.x_last = std::max(figure.x_last, static_cast<double>(lengths.back()));
  for (Index at = 1; static_cast<double>(at) <= figure.x_last; at *= 2) {
    figure.ticks.push_back({static_cast<double>(at), number_text(at), {}});
  }
  set_trained_mark(figure, all);
  figure.alternative = fmt::format("Line chart of {} against the position in the window.{}{}", figure.y_label,
                                   finding_text(figure), ends_text(figure));
  return figure;
}

ReportTable position_table(const Comparison& comparison, const std::vector<Series>& all) {
  ReportTable table;
  table.title = fmt::format("{} by position in the longest window", position_unit(comparison));
  table.title.front() = 'B';
  table.header = {variant_word(comparison.config)};
  std::vector<PositionCurve> curves;
  std::map<Index, std::string> columns;  // by the last position of an octave
  const std::vector<ResultRow> rows = result_rows(comparison.cells);
  for (const Series& series : all) {
    curves.push_back(position_curve(rows, series, all));
    for (const Octave& octave : curves.back().octaves) {
      columns[octave.last] = octave.first == octave.last
                                 ? number_text(octave.last)
                                 : fmt::format("{}–{}", number_text(octave.first), number_text(octave.last));
    }
  }
  for (const auto& [last, header] : columns) table.header.push_back(header);
  for (const PositionCurve& curve : curves) {
    std::vector<std::string> row = {curve.name};
    for (const auto& [last, header] : columns) {
      const auto octave = std::ranges::find(curve.octaves, last, &Octave::last);
      row.push_back(octave == curve.octaves.end() ? std::string("–") : fmt::format("{:.3f}", octave->bits()));
    }
    table.rows.push_back(std::move(row));
  }
  table.notes = {"Means over the positions of a column and over seeds."};
  return table;
}

}  // namespace tapeline
