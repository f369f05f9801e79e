#include "experiments/compare/comparison.h"

#include <utility>

#include "core/files.h"

namespace tapeline {

FinishedCell finished_cell(const Cell& cell, CellRecord record) {
  const Config& config = cell.config.config;
  return {cell.variant, config.positional.name(), cell.seed, config.train.length, std::move(record)};
}

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

void write_tables(const std::filesystem::path& folder, const Comparison& comparison) {
  const std::vector<ResultRow> rows = result_rows(comparison.cells);
  write_file(folder / "results.csv", results_csv(rows));
  write_file(folder / "positions.csv", positions_csv(rows));
}

}  // namespace tapeline
