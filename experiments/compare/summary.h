#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/compare/results.h"
#include "experiments/statistics/estimate.h"

namespace tapeline {

/// One length under one protocol, over all seeds of a series.
struct SeriesPoint {
  EvaluationCell cell;
  Index scored_tokens = 0;
  Index seeds = 0, refused = 0, diverged = 0;
  bool short_windows = false;  ///< some are shorter than the length: it does not divide what is scored
  Estimate bits_per_byte, nll;
};

/// One line of every table and figure: a variant under one evaluation.
struct Series {
  std::string name;  ///< "rope", or "rope, ntk" for an evaluation of its own
  std::string variant, kind, evaluation;
  Index train_length = 0;
  std::vector<SeriesPoint> points;  ///< in the order of results.csv

  const SeriesPoint* find(Protocol protocol, Index length, Index stride, bool subset) const;
  /// Non-overlapping, on the whole scored set.
  const SeriesPoint* at(Index length) const;
};

/// In order of first appearance.
std::vector<Series> summarize(const std::vector<ResultRow>& rows);

/// The lengths evaluated non-overlapping on the whole scored set, ascending.
std::vector<Index> table_lengths(const std::vector<Series>& all);

/// One figure of a series, seed by seed, under one protocol and length: by_seed(rows, series, cell,
/// &EvaluationResult::nll). Seeds that were refused or diverged there are left out.
BySeed by_seed(const std::vector<ResultRow>& rows, const Series& series, const EvaluationCell& cell,
               double EvaluationResult::*figure);

/// The logarithm of the ratio of perplexities per byte, NLL(length) - NLL(trained length) in nats a byte,
/// both non-overlapping, on the same targets, within one model; over seeds paired. Its exponential is the
/// (geometric mean) ratio R, that of its interval's limits R's interval, which is longer upwards. Without
/// values where either was not measured.
Estimate log_perplexity_ratio(const std::vector<ResultRow>& rows, const Series& series, Index length);

}  // namespace tapeline
