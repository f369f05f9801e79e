#include "experiments/report/ratio_tables.h"

#include <fmt/format.h>

#include <cmath>

namespace tapeline {
namespace {

/// Four digits or so of what may be 0.98 or 10^20.
std::string ratio_text(double ratio) {
  if (!std::isfinite(ratio) || ratio >= 1e6) return fmt::format("{:.2e}", ratio);
  return fmt::format("{:.{}f}", ratio, ratio < 10 ? 3 : ratio < 100 ? 2 : ratio < 1000 ? 1 : 0);
}

/// "1.650 (1.600 to 1.710)" of logarithms.
std::string range_text(double middle, double low, double high) {
  if (std::isnan(low)) return ratio_text(std::exp(middle));
  return fmt::format("{} ({} to {})", ratio_text(std::exp(middle)), ratio_text(std::exp(low)),
                     ratio_text(std::exp(high)));
}

/// Without the trained length, where all have the same: there the ratio is 1 by definition.
std::vector<Index> ratio_lengths(const std::vector<Series>& all) {
  std::vector<Index> lengths = table_lengths(all);
  std::erase(lengths, common_train_length(all));
  return lengths;
}

ReportTable lengths_by_series(const Comparison& comparison, const std::vector<Series>& all) {
  ReportTable table = table_of_series(comparison, all);
  for (const Index length : ratio_lengths(all))
    table.header.push_back(length_header(length, common_train_length(all)));
  return table;
}

}  // namespace

ReportTable ratio_table(const Comparison& comparison, const std::vector<Series>& all) {
  ReportTable table = lengths_by_series(comparison, all);
  table.title =
      "Perplexity per byte over that at the trained length, non-overlapping windows (below 1: better)";
  const std::vector<ResultRow> rows = result_rows(comparison.cells);
  const std::vector<Index> lengths = ratio_lengths(all);
  if (lengths.empty()) return table;
  for (const Series& series : all) {
    std::vector<std::string> row = row_label(series.name, series, all);
    for (const Index length : lengths) {
      const Estimate ratio = log_perplexity_ratio(rows, series, length);
      // 1 at the trained length by definition: no estimate, and no interval.
      row.push_back(ratio.count == 0                ? bits_text(series.at(length))
                    : length == series.train_length ? std::string("1")
                                                    : range_text(ratio.mean, ratio.lower(), ratio.upper()));
    }
    table.rows.push_back(std::move(row));
  }
  table.notes = {
      comparison.config.compare.seeds > 1
          ? "Within one model and on the same targets; over seeds the geometric mean, with the 95 % "
            "t-interval of the logarithm in brackets."
          : "Within one model and on the same targets."};
  return table;
}

ReportTable ratio_spread_table(const Comparison& comparison, const std::vector<Series>& all) {
  ReportTable table = lengths_by_series(comparison, all);
  table.title = "The same where seeds differ much: median, lowest and highest seed";
  const std::vector<ResultRow> rows = result_rows(comparison.cells);
  for (const Series& series : all) {
    std::vector<std::string> row = row_label(series.name, series, all);
    bool some = false;
    for (const Index length : ratio_lengths(all)) {
      const Estimate ratio = log_perplexity_ratio(rows, series, length);
      const bool wide = ratio.half_width > widely_scattered;  // NaN, without an interval, is not
      some = some || wide;
      row.push_back(wide ? range_text(ratio.median, ratio.lowest, ratio.highest) : std::string("–"));
    }
    if (some) table.rows.push_back(std::move(row));
  }
  table.notes = {fmt::format(
      "–: the interval above reaches no farther than a factor of {:.2f}, or nothing was measured.",
      std::exp(widely_scattered))};
  return table;
}

}  // namespace tapeline
