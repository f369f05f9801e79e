#include "experiments/compare/summary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "experiments/compare/plan.h"

namespace tapeline {
namespace {

/// The 0.975 quantile of Student's t.
double student_quantile(Index degrees) {
  constexpr std::array<double, 30> table = {12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060,
                                            2.2622,  2.2281, 2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199,
                                            2.1098,  2.1009, 2.0930, 2.0860, 2.0796, 2.0739, 2.0687, 2.0639,
                                            2.0595,  2.0555, 2.0518, 2.0484, 2.0452, 2.0423};
  const auto index = static_cast<std::size_t>(degrees - 1);
  // Past the table: the first term of the Cornish-Fisher expansion, right to 0.001 there.
  return index < table.size() ? table[index] : 1.95996 + 2.3723 / static_cast<double>(degrees);
}

bool same_cell(const EvaluationCell& a, const EvaluationCell& b) {
  return a.protocol == b.protocol && a.length == b.length && a.stride == b.stride && a.subset == b.subset;
}

bool whole_set(const EvaluationCell& cell) {
  return cell.protocol == Protocol::nonoverlapping && !cell.subset;
}

bool belongs(const ResultRow& row, const Series& series) {
  return row.name == series.variant && row.evaluation == series.evaluation;
}

SeriesPoint summarize_point(const std::vector<const EvaluationResult*>& results) {
  SeriesPoint point;
  point.cell = results.front()->cell;
  std::vector<double> bits, nll;
  for (const EvaluationResult* result : results) {
    ++point.seeds;
    point.refused += result->status == "refused" ? 1 : 0;
    point.diverged += result->status == "diverged" ? 1 : 0;
    if (result->status != "ok") continue;
    point.scored_tokens = result->scored_tokens;
    point.short_windows = point.short_windows || result->short_windows > 0;
    bits.push_back(result->bits_per_byte);
    nll.push_back(result->nll);
  }
  point.bits_per_byte = estimate(bits);
  point.nll = estimate(nll);
  return point;
}

}  // namespace

Estimate estimate(const std::vector<double>& values) {
  Estimate result;
  result.count = static_cast<Index>(values.size());
  if (values.empty()) return result;
  const auto count = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += value;
  result.mean = sum / count;
  if (values.size() < 2) return result;
  double squares = 0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  result.half_width = student_quantile(result.count - 1) * std::sqrt(squares / (count - 1) / count);
  return result;
}

const SeriesPoint* Series::find(Protocol protocol, Index length, Index stride, bool subset) const {
  for (const SeriesPoint& point : points) {
    if (same_cell(point.cell, {protocol, length, stride, subset})) return &point;
  }
  return nullptr;
}

const SeriesPoint* Series::at(Index length) const {
  for (const SeriesPoint& point : points) {
    if (whole_set(point.cell) && point.cell.length == length) return &point;
  }
  return nullptr;
}

std::vector<Series> summarize(const std::vector<ResultRow>& rows) {
  std::vector<Series> all;
  for (const ResultRow& row : rows) {
    if (std::any_of(all.begin(), all.end(), [&](const Series& known) { return belongs(row, known); }))
      continue;
    Series series;
    series.name = series_name(row.name, row.evaluation);
    series.variant = row.name;
    series.kind = row.kind;
    series.evaluation = row.evaluation;
    series.train_length = row.train_length;
    std::vector<std::vector<const EvaluationResult*>> by_cell;
    for (const ResultRow& other : rows) {
      if (!belongs(other, series)) continue;
      const auto place = std::find_if(by_cell.begin(), by_cell.end(), [&](const auto& results) {
        return same_cell(results.front()->cell, other.result.cell);
      });
      if (place == by_cell.end()) {
        by_cell.push_back({&other.result});
      } else {
        place->push_back(&other.result);
      }
    }
    for (const auto& results : by_cell) series.points.push_back(summarize_point(results));
    all.push_back(std::move(series));
  }
  return all;
}

std::vector<Index> table_lengths(const std::vector<Series>& all) {
  std::set<Index> lengths;
  for (const Series& series : all) {
    for (const SeriesPoint& point : series.points) {
      if (whole_set(point.cell)) lengths.insert(point.cell.length);
    }
  }
  return {lengths.begin(), lengths.end()};
}

Estimate perplexity_ratio(const std::vector<ResultRow>& rows, const Series& series, Index length) {
  std::map<std::uint64_t, double> at_trained, at_length;
  for (const ResultRow& row : rows) {
    if (!belongs(row, series) || !whole_set(row.result.cell) || row.result.status != "ok") continue;
    if (row.result.cell.length == series.train_length) at_trained[row.seed] = row.result.nll;
    if (row.result.cell.length == length) at_length[row.seed] = row.result.nll;
  }
  std::vector<double> ratios;
  for (const auto& [seed, nll] : at_length) {
    if (const auto trained = at_trained.find(seed); trained != at_trained.end()) {
      ratios.push_back(std::exp(nll - trained->second));
    }
  }
  return estimate(ratios);
}

}  // namespace tapeline
