#include "experiments/compare/job.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/files.h"
#include "core/parallel.h"
#include "experiments/compare/cell.h"
#include "experiments/compare/workload.h"
#include "train/config_derived.h"
#include "train/flops.h"
#include "train/folder_lock.h"
#include "train/run_folder.h"
#include "train/signals.h"
#include "train/training_line.h"

namespace tapeline {
namespace {

/// One split and one set of targets for all lengths of all cells.
struct SharedText {
  Splits splits;
  ComparedTargets targets;
};

SharedText shared_text(const ResolvedConfig& config, const std::vector<Cell>& cells, Index tokens) {
  Config all = config.config;
  Index longest = 0, longest_sliding = 0;
  for (const Cell& cell : cells) {
    for (const CellEvaluation& evaluation : cell.evaluations) {
      for (const ConfigDifference& difference : config_difference(config.config, evaluation.config)) {
        require<ConfigError>(!difference.key.starts_with("data."),
                             "compare: variant \"{}\" sets {}; all variants share one text and one split",
                             cell.variant, difference.key);
      }
      for (const Index length : evaluation_lengths(evaluation.config)) longest = std::max(longest, length);
      longest_sliding = std::max(longest_sliding, longest_sliding_length(evaluation.config));
    }
  }
  // The blocks must be long enough for the longest length of any variant.
  all.evaluate.lengths.push_back(fmt::format("{}", longest));
  SharedText shared;
  shared.splits = configured_splits(all, tokens);
  require<DataError>(
      !shared.splits.validation.empty(),
      "compare: data.validation_share is {}: there is nothing to evaluate on; give a share above 0",
      config.config.data.validation_share);
  shared.targets = {config.config.evaluate.scored == "all" ? scored_all(shared.splits.validation)
                                                           : scored_set(shared.splits.validation, longest),
                    longest_sliding};
  return shared;
}

/// A checkpoint must know the split it was trained with, also when that was chosen for the lengths of all
/// variants: evaluated alone it would choose another one, and validate on text it has seen.
void fix_split(std::vector<Cell>& cells, Index block) {
  for (Cell& cell : cells) {
    if (cell.config.config.data.block == 0) cell.config.origins["data.block"] = "compare, for all variants";
    cell.config.config.data.block = block;
    for (CellEvaluation& evaluation : cell.evaluations) evaluation.config.data.block = block;
  }
}

/// The progress line: which cell, what it does and how fast, and how much of the whole is done.
class ComparisonLine {
 public:
  ComparisonLine(const std::vector<Cell>& cells, Index vocabulary, double gemm_gflops)
      : cells_(cells), vocabulary_(vocabulary), gemm_gflops_(gemm_gflops) {}

  std::string text(std::size_t number, const CellProgress& at, double share, double seconds_left) {
    const Cell& cell = cells_[number];
    const TrainConfig& train = cell.config.config.train;
    std::string doing = at.doing;
    if (at.training) {
      doing = fmt::format("step {}/{}, loss {:.3f}", at.step, train.steps, at.loss);
      if (pace_ && paced_ == number) {
        doing += ", " + pace_->look(at.step);
      } else {
        const TokenFlops flops = token_flops(cell.config.config.model, vocabulary_, train.length);
        pace_.emplace(at.step, train.tokens_per_step, flops.training(), gemm_gflops_);
        paced_ = number;
      }
    }
    return fmt::format("[{}/{}] {}: {} · {:.0f}% of everything · {} left", number + 1, cells_.size(),
                       cell.label(), doing, 100 * share, duration_text(seconds_left));
  }

 private:
  const std::vector<Cell>& cells_;
  Index vocabulary_;
  double gemm_gflops_;
  std::optional<TrainingPace> pace_;
  std::size_t paced_ = 0;  // the cell that it is of
};

std::string finished_text(const std::vector<Cell>& cells, std::size_t number, const CellRecord& record) {
  std::string text = fmt::format("[{}/{}] {}: ", number + 1, cells.size(), cells[number].label());
  if (record.training == "diverged") return text + "diverged: " + record.reason;
  std::string bits;
  for (const RecordedResult& recorded : record.results) {
    const EvaluationResult& result = recorded.result;
    if (recorded.evaluation != trained_evaluation || result.cell.protocol != Protocol::nonoverlapping ||
        result.cell.subset) {
      continue;
    }
    bits += fmt::format("{}{}: {}", bits.empty() ? "" : ", ", result.cell.length,
                        result.status == "ok" ? fmt::format("{:.3f}", result.bits_per_byte) : result.status);
  }
  return text + "bits per byte at " + bits;
}

std::filesystem::path cell_folder(const std::filesystem::path& folder, const Cell& cell) {
  return folder / "cells" / cell.folder_name();
}

/// The cells that are complete, in the order of the plan.
std::vector<FinishedCell> finished_cells(const std::vector<Cell>& cells,
                                         const std::vector<CellRecord>& records) {
  std::vector<FinishedCell> finished;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Config& resolved = cells[i].config.config;
    if (!records[i].complete) continue;
    finished.push_back(
        {cells[i].variant, resolved.positional.name(), cells[i].seed, resolved.train.length, records[i]});
  }
  return finished;
}

void write_tables(const std::filesystem::path& folder, const std::vector<FinishedCell>& cells) {
  const std::vector<ResultRow> rows = result_rows(cells);
  write_file(folder / "results.csv", results_csv(rows));
  write_file(folder / "positions.csv", positions_csv(rows));
}

}  // namespace

Splits comparison_splits(const ResolvedConfig& config, Index tokens) {
  return shared_text(config, plan_cells(config), tokens).splits;
}

Comparison run_comparison(const ResolvedConfig& config, const TokenStore& store, const Tokenizer& tokenizer,
                          const CompareOptions& options) {
  if (config.config.train.threads > 0) set_thread_count(config.config.train.threads);
  std::vector<Cell> cells = plan_cells(config);
  const SharedText shared = shared_text(config, cells, store.size());
  fix_split(cells, shared.splits.block);
  const Workload workload(cells, tokenizer.size(), shared.targets);

  // All that can be refused has been: a folder that holds the configuration of a comparison which cannot be
  // would stand in the way of the one that was meant.
  const RunFolder run(options.folder);
  run.require_none("checkpoints", "a single run");
  run.require_vacant({"results.csv", "positions.csv", "claims.json", "report.html", "figures", "cells"});
  run.claim(config, StoredFor::comparison);
  const FolderLock lock(options.folder, "compare");
  const SignalGuard signals;

  Comparison comparison{config.config,  options.command,
                        store.source(), store.digest(),
                        store.size(),   shared.targets.scored.tokens(),
                        thread_count(), {}};
  const double gemm_gflops = measured_gemm_gflops(config.config.model, config.config.train.tokens_per_step);
  const CellSurroundings surroundings{{store, tokenizer, shared.splits}, shared.targets, gemm_gflops};
  Progress progress(options.progress);
  ComparisonLine line(cells, tokenizer.size(), gemm_gflops);

  // What an earlier run finished stands in the tables from the start, and does not count for the speed: the
  // clock starts at the first thing done now.
  std::vector<CellRecord> records;
  for (const Cell& cell : cells) records.push_back(read_record(cell_folder(options.folder, cell)));
  std::optional<TimeLeft> time_left;
  for (std::size_t number = 0; number < cells.size(); ++number) {
    const auto show = [&](const CellProgress& at) {
      const double share = workload.done(number, at) / workload.total();
      if (!time_left) time_left.emplace(share);
      if (progress.due()) progress.show(line.text(number, at, share, time_left->seconds(share)));
    };
    const bool known = records[number].complete;
    progress.clear();  // training begins with a message of its own
    records[number] = run_cell(cells[number], surroundings, cell_folder(options.folder, cells[number]), show);
    if (known) continue;
    progress.finish(finished_text(cells, number, records[number]));
    write_tables(options.folder, finished_cells(cells, records));
  }
  comparison.cells = finished_cells(cells, records);
  write_tables(options.folder, comparison.cells);
  return comparison;
}

}  // namespace tapeline
