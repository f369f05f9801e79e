#include "experiments/compare/summary.h"

#include <algorithm>
#include <numbers>
#include <set>

#include "experiments/compare/plan.h"

namespace tapeline {
namespace {

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

const SeriesPoint* Series::find(Protocol protocol, Index length, Index stride, bool subset) const {
  for (const SeriesPoint& point : points) {
    if (point.cell == EvaluationCell{protocol, length, stride, subset}) return &point;
  }
  return nullptr;
}

const SeriesPoint* Series::at(Index length) const {
  for (const SeriesPoint& point : points) {
    if (point.cell.on_whole_set() && point.cell.length == length) return &point;
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
        return results.front()->cell == other.result.cell;
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
      if (point.cell.on_whole_set()) lengths.insert(point.cell.length);
    }
  }
  return {lengths.begin(), lengths.end()};
}

BySeed by_seed(const std::vector<ResultRow>& rows, const Series& series, const EvaluationCell& cell,
               double EvaluationResult::*figure) {
  BySeed values;
  for (const ResultRow& row : rows) {
    if (belongs(row, series) && row.result.cell == cell && row.result.status == "ok")
      values[row.seed] = row.result.*figure;
  }
  return values;
}

Estimate log_perplexity_ratio(const std::vector<ResultRow>& rows, const Series& series, Index length) {
  const auto nats_a_byte = [&](Index at) {
    BySeed values =
        by_seed(rows, series, {Protocol::nonoverlapping, at, at, false}, &EvaluationResult::bits_per_byte);
    for (auto& [seed, value] : values) value *= std::numbers::ln2;
    return values;
  };
  return paired_difference(nats_a_byte(length), nats_a_byte(series.train_length));
}

}  // namespace tapeline
