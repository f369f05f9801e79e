#include "experiments/report/early_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "experiments/report/figure_text.h"
#include "experiments/report/variants.h"
#include "train/residual.h"

namespace tapeline {
namespace {

/// One number of every seed of a series, from all its results.
Estimate over_models(
    const Comparison& comparison, const Series& series,
    const std::function<std::optional<double>(const std::vector<EvaluationResult>&)>& number) {
  std::vector<double> values;
  for (const FinishedCell& cell : comparison.cells) {
    if (cell.variant != series.variant) continue;
    std::vector<EvaluationResult> results;
    for (const RecordedResult& recorded : cell.record.results) {
      if (recorded.evaluation == series.evaluation) results.push_back(recorded.result);
    }
    if (const std::optional<double> value = number(results)) values.push_back(*value);
  }
  return estimate(values);
}

/// The lengths past the trained one that have non-overlapping windows on the sliding subset.
std::vector<Index> longer_subset_lengths(const std::vector<Series>& all) {
  std::set<Index> lengths;
  for (const Series& series : all) {
    for (const SeriesPoint& point : series.points) {
      if (point.cell.protocol == Protocol::nonoverlapping && point.cell.subset &&
          point.cell.length > series.train_length) {
        lengths.insert(point.cell.length);
      }
    }
  }
  return {lengths.begin(), lengths.end()};
}

FigurePoint early_point(const SeriesPoint& point) {
  return {static_cast<double>(point.cell.length), point.bits_per_byte.mean, point.bits_per_byte.half_width};
}

/// Sliding losses by length, the smallest stride of each.
std::vector<FigurePoint> sliding_points(const Series& series) {
  std::map<Index, const SeriesPoint*> finest;
  for (const SeriesPoint& point : series.points) {
    if (point.cell.protocol != Protocol::sliding || point.bits_per_byte.count == 0) continue;
    const SeriesPoint*& known = finest[point.cell.length];
    if (known == nullptr || point.cell.stride < known->cell.stride) known = &point;
  }
  std::vector<FigurePoint> points;
  for (const auto& [length, point] : finest) points.push_back(early_point(*point));
  return points;
}

/// Non-overlapping losses over the same targets, by length.
std::vector<FigurePoint> nonoverlapping_points(const Series& series) {
  std::vector<FigurePoint> points;
  for (const SeriesPoint& point : series.points) {
    if (point.cell.protocol == Protocol::nonoverlapping && point.cell.subset && point.bits_per_byte.count > 0)
      points.push_back(early_point(point));
  }
  std::ranges::sort(points, {}, &FigurePoint::x);
  return points;
}

/// " From the shortest to the longest, rope: non-overlapping 2.41 to 3.10, sliding 2.30 to 3.05; ...": what
/// each small chart shows; empty where there are more than a listener can keep apart.
std::string pairs_text(const Figure& figure) {
  if (figure.curves.size() > 2 * curve_colours().size()) return {};
  std::string text = " From the shortest to the longest,";
  std::string panel;
  for (const Curve& curve : figure.curves) {
    if (curve.points.empty()) continue;
    text += curve.panel == panel ? ", " : fmt::format("{} {}: ", panel.empty() ? "" : ";", curve.panel);
    panel = curve.panel;
    text += fmt::format("{} {:.2f} to {:.2f}", curve.name, curve.points.front().y, curve.points.back().y);
  }
  return text + '.';
}

}  // namespace

std::optional<double> early_token_gap(const std::vector<EvaluationResult>& results, Index trained_length) {
  const std::optional<CurseOnly> found = curse_only(results, trained_length, trained_length);
  if (!found) return std::nullopt;
  return found->gap;
}

ReportTable early_token_table(const Comparison& comparison, const std::vector<Series>& all) {
  ReportTable table = table_of_series(comparison, all);
  const std::string unit = token_word(comparison);
  table.title =
      fmt::format("What targets without history cost, and what the longer context gives, in nats a {}", unit);
  const std::vector<Index> lengths = longer_subset_lengths(all);
  const Index trained = common_train_length(all);
  table.header.push_back(trained == 0 ? "gap at the trained length"
                                      : fmt::format("gap at {}", number_text(trained)));
  for (const Index length : lengths) table.header.push_back("residual at " + length_header(length, trained));
  bool negative_gap = false;
  for (const Series& series : all) {
    const Estimate gap = over_models(comparison, series, [&](const std::vector<EvaluationResult>& results) {
      return early_token_gap(results, series.train_length);
    });
    if (gap.count == 0) continue;
    negative_gap = negative_gap || gap.mean < 0;
    std::vector<std::string> row = row_label(series.name, series, all);
    row.push_back(interval_text(gap, 3));
    for (const Index length : lengths) {
      const Estimate residual =
          over_models(comparison, series, [&](const std::vector<EvaluationResult>& results) {
            return length > series.train_length ? curse_only_residual(results, series.train_length, length)
                                                : std::nullopt;
          });
      row.push_back(residual.count == 0 ? std::string("–") : interval_text(residual, 3));
    }
    table.rows.push_back(std::move(row));
  }
  table.notes = {
      fmt::format("Over the {} targets of the sliding windows.", number_text(sliding_tokens(all))),
      "Gap: the loss in non-overlapping windows of the trained length minus the loss with full history there "
      "(sliding, stride 1).",
      "Residual: the loss in longer non-overlapping windows minus what the gap, thinned out over them, would "
      "leave. About 0: the longer context neither helps nor hurts; below 0: it helps; above: it hurts.",
      "1 nat is 1.443 bits.", seeds_note(comparison)};
  if (negative_gap) {
    table.notes.push_back(
        "A gap below 0: with a whole window before it this model does worse than in the mean over its "
        "windows; it does not cope with the last of its positions, and the residual is of little meaning.");
  }
  return table;
}

Figure early_token_figure(const Comparison& comparison, const std::vector<Series>& all) {
  Figure figure;
  figure.name = "early_token_effect";
  figure.title = "Early-token effect";
  figure.y_label = "bits per byte";
  for (const Series& series : all) {
    const std::vector<FigurePoint> sliding = sliding_points(series);
    if (sliding.empty()) continue;
    const std::string panel = curve_name(series, all);
    figure.curves.push_back({"non-overlapping", nonoverlapping_points(series), panel});
    figure.curves.push_back({"sliding", sliding, panel});
  }
  set_length_axis(figure, comparison, all);
  figure.alternative = fmt::format(
      "Small line charts, one for each {}: bits per byte against the length of the window, non-overlapping "
      "windows beside sliding ones over the same targets.{}",
      variant_word(comparison.config), pairs_text(figure));
  return figure;
}

}  // namespace tapeline
