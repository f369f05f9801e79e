#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "train/evaluate.h"

namespace tapeline {

/// One line of results.csv: one trained cell under one evaluation, protocol and length.
struct ResultRow {
  std::string name;        ///< the variant: "rope"
  std::string kind;        ///< its positional.kind
  std::string evaluation;  ///< "trained", or the name of a [[compare.evaluation]]
  std::uint64_t seed = 0;
  Index train_length = 0;
  EvaluationResult result;
};

/// The whole of results.csv: a heading, then a line a row, in the order given. Numbers are the shortest that
/// read back to the same bits, with a point in any locale; what was not measured is empty. tokens_per_second
/// (of the evaluation) is the only column that a second run changes.
std::string results_csv(const std::vector<ResultRow>& rows);

/// The whole of positions.csv: the mean loss in nats a token at window positions position_first ..
/// position_last, counted from 1, of every non-overlapping evaluation.
std::string positions_csv(const std::vector<ResultRow>& rows);

/// A field of a CSV line, quoted where it must be.
std::string csv_field(const std::string& text);
/// A number for a CSV file; empty for NaN.
std::string csv_number(double value);

}  // namespace tapeline
