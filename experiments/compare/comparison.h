#pragma once

#include <string>
#include <vector>

#include "experiments/compare/cell_record.h"
#include "experiments/compare/plan.h"
#include "experiments/compare/results.h"

namespace tapeline {

/// A cell that has been trained and evaluated.
struct FinishedCell {
  std::string variant, kind;
  std::uint64_t seed = 0;
  Index train_length = 0;
  CellRecord record;
};

/// A comparison as its tables, figures and report see it: what was asked for, on which text, what came out.
struct Comparison {
  Config config;
  std::string command;  ///< that makes it again
  std::string text_source, text_digest;
  Index text_tokens = 0;
  Index scored_tokens = 0;  ///< targets of the whole scored set
  int threads = 0;
  std::vector<FinishedCell> cells;
};

/// The lines of results.csv: cell by cell in the order of the plan.
std::vector<ResultRow> result_rows(const std::vector<FinishedCell>& cells);

}  // namespace tapeline
