#include "experiments/compare/comparison.h"

#include <numeric>
#include <utility>

#include "core/files.h"
#include "experiments/compare/probes_csv.h"

namespace tapeline {

namespace {

/// The point of the sweep was measured first, and at a length that the comparison need not have.
std::vector<RecordedResult> as_planned(const Cell& cell, const CellRecord& record) {
  std::vector<RecordedResult> results;
  for (const CellEvaluation& evaluation : cell.evaluations) {
    for (const EvaluationCell& at : evaluation_plan(evaluation.config, {}, 1).cells) {
      if (const EvaluationResult* result = record.find(evaluation.name, at))
        results.push_back({evaluation.name, *result});
    }
  }
  return results;
}

}  // namespace

std::vector<std::uint64_t> planned_seeds(const Comparison& comparison) {
  if (!comparison.seeds.empty()) return comparison.seeds;
  std::vector<std::uint64_t> seeds(static_cast<std::size_t>(comparison.config.compare.seeds));
  std::iota(seeds.begin(), seeds.end(), comparison.config.train.seed);
  return seeds;
}

FinishedCell finished_cell(const Cell& cell, CellRecord record) {
  if (cell.part == CellPart::swept) record.results = as_planned(cell, record);
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
  write_file(folder / "probes.csv", probes_csv(comparison.cells));
  if (!comparison.sweep.empty()) write_file(folder / "sweep.csv", sweep_csv(comparison.sweep));
}

}  // namespace tapeline
