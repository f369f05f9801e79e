#include "experiments/compare/comparison.h"

namespace tapeline {

std::vector<ResultRow> result_rows(const std::vector<FinishedCell>& cells) {
  std::vector<ResultRow> rows;
  for (const FinishedCell& cell : cells) {
    for (const RecordedResult& recorded : cell.record.results) {
      rows.push_back(
          {cell.variant, cell.kind, recorded.evaluation, cell.seed, cell.train_length, recorded.result});
    }
  }
  return rows;
}

}  // namespace tapeline
