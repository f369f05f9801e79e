#include "experiments/compare/job.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>

#include "core/error.h"
#include "core/files.h"
#include "core/parallel.h"
#include "experiments/compare/cell.h"
#include "experiments/compare/workload.h"
#include "train/config_derived.h"
#include "train/flops.h"
#include "train/run_folder.h"
#include "train/signals.h"

namespace tapeline {
namespace {

/// Keeps a folder for one process; the system lets go of it however the process ends.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder)
      : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    require<FileError>(descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0,
                       "compare: \"{}\" is in use by another comparison; wait for it, or give another --out",
                       folder.string());
  }
  ~FolderLock() { ::close(descriptor_); }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

/// The targets that every cell is scored on: one set for all lengths of all cells.
struct SharedTargets {
  Splits splits;
  ScoredSet scored;
};

SharedTargets shared_targets(const ResolvedConfig& config, const std::vector<Cell>& cells, Index tokens) {
  Config all = config.config;
  Index longest = 0;
  for (const Cell& cell : cells) {
    for (const CellEvaluation& evaluation : cell.evaluations) {
      for (const ConfigDifference& difference : config_difference(config.config, evaluation.config)) {
        require<ConfigError>(!difference.key.starts_with("data."),
                             "compare: variant \"{}\" sets {}; all variants share one text and one split",
                             cell.variant, difference.key);
      }
      for (const Index length : evaluation_lengths(evaluation.config)) longest = std::max(longest, length);
    }
  }
  // The blocks must be long enough for the longest length of any variant.
  all.evaluate.lengths.push_back(fmt::format("{}", longest));
  SharedTargets shared;
  shared.splits = configured_splits(all, tokens);
  require<DataError>(
      !shared.splits.validation.empty(),
      "compare: data.validation_share is {}: there is nothing to evaluate on; give a share above 0",
      config.config.data.validation_share);
  shared.scored = config.config.evaluate.scored == "all" ? scored_all(shared.splits.validation)
                                                         : scored_set(shared.splits.validation, longest);
  return shared;
}

std::string progress_text(const std::vector<Cell>& cells, std::size_t number, const CellProgress& at,
                          double share, double seconds_left) {
  const Cell& cell = cells[number];
  std::string doing = at.doing;
  if (at.training) doing += fmt::format(" step {}/{}", at.step, cell.config.config.train.steps);
  return fmt::format("[{}/{}] {}: {} · {:.0f}% of everything · {} left", number + 1, cells.size(),
                     cell.label(), doing, 100 * share, duration_text(seconds_left));
}

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

}  // namespace

Comparison run_comparison(const ResolvedConfig& config, const TokenStore& store, const Tokenizer& tokenizer,
                          const CompareOptions& options) {
  if (config.config.train.threads > 0) set_thread_count(config.config.train.threads);
  const std::vector<Cell> cells = plan_cells(config);
  const SharedTargets shared = shared_targets(config, cells, store.size());

  RunFolder(options.folder).claim(config);
  const FolderLock lock(options.folder);
  const SignalGuard signals;

  Comparison comparison{config.config, options.command,        store.source(), store.digest(),
                        store.size(),  shared.scored.tokens(), thread_count(), {}};
  const Workload workload(cells, tokenizer.size(), shared.scored);
  const double gemm_gflops = measured_gemm_gflops(config.config.model, config.config.train.tokens_per_step);
  const CellSurroundings surroundings{{store, tokenizer, shared.splits}, shared.scored, gemm_gflops};
  Progress progress(options.progress);

  // What an earlier run finished does not count for the speed: the clock starts at the first thing done now.
  std::optional<TimeLeft> time_left;
  for (std::size_t number = 0; number < cells.size(); ++number) {
    const Cell& cell = cells[number];
    const std::filesystem::path folder = options.folder / "cells" / cell.folder_name();
    const auto show = [&](const CellProgress& at) {
      const double share = workload.done(number, at) / workload.total();
      if (!time_left) time_left.emplace(share);
      if (progress.due()) progress.show(progress_text(cells, number, at, share, time_left->seconds(share)));
    };
    const bool known = read_record(folder).complete;
    progress.clear();  // training begins with a message of its own
    const CellRecord record = run_cell(cell, surroundings, folder, show);
    if (!known) progress.finish(finished_text(cells, number, record));
    const Config& resolved = cell.config.config;
    comparison.cells.push_back(
        {cell.variant, resolved.positional.kind, cell.seed, resolved.train.length, record});
    const std::vector<ResultRow> rows = result_rows(comparison.cells);
    write_file(options.folder / "results.csv", results_csv(rows));
    write_file(options.folder / "positions.csv", positions_csv(rows));
  }
  return comparison;
}

}  // namespace tapeline
