#include "experiments/compare/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/counted.h"
#include "core/error.h"
#include "core/parallel.h"
#include "experiments/compare/comparison_file.h"
#include "experiments/compare/comparison_line.h"
#include "experiments/compare/time_estimate.h"
#include "experiments/duration.h"
#include "experiments/output.h"
#include "train/flops.h"
#include "train/folder_lock.h"
#include "train/log.h"
#include "train/run_folder.h"
#include "train/signals.h"

namespace tapeline {
namespace {

std::string share_text(const Share& share) {
  return share.whole() ? "all cells" : fmt::format("cells {}", share.text());
}

/// Two shares in one folder would each write the tables of its own cells.
void require_share(const std::filesystem::path& folder, const Share& share) {
  const std::optional<ComparisonFacts> known = read_facts(folder);
  const bool earlier = known || std::filesystem::exists(folder / "cells");
  const Share there = known ? known->share : earlier ? Share{} : share;
  require<ConfigError>(
      there == share,
      "\"{}\" is the folder of {}, and this is {}; every share has a folder of its own: leave "
      "--out out, or give another one",
      folder.string(), share_text(there), share_text(share));
}

/// The last step that a run saved; 0: none.
Index saved_step(const std::filesystem::path& run) {
  const auto latest = RunFolder(run).latest();
  if (!latest) return 0;
  const std::string name = latest->stem().string();  // step-00000600
  const char* digits = name.data() + std::min(name.size(), name.find('-') + 1);
  Index step = 0;
  std::from_chars(digits, name.data() + name.size(), step);
  return step;
}

/// One comparison at work: its cells, what is known of each, and the tables.
class Job {
 public:
  Job(const ResolvedConfig& config, const TokenStore& store, const Tokenizer& tokenizer, Layout& layout,
      const CompareOptions& options)
      : options_(options),
        store_(store),
        tokenizer_(tokenizer),
        layout_(layout),
        cells_(layout.cells),
        surroundings_{{store, tokenizer, layout.splits},
                      layout.targets,
                      measured_gemm_gflops(config.config.model, config.config.train.tokens_per_step)},
        progress_(options.progress),
        line_(cells_, tokenizer.size(), surroundings_.gemm_gflops) {
    comparison_.config = config.config;
    comparison_.command = options.command;
    comparison_.text_source = store.source();
    comparison_.text_digest = store.digest();
    comparison_.text_tokens = store.size();
    comparison_.scored_tokens = layout.targets.scored.tokens();
    comparison_.threads = thread_count();
    comparison_.planned = layout.planned;
  }

  void write_facts() const {
    tapeline::write_facts(options_.folder, {.command = comparison_.command,
                                            .text_source = comparison_.text_source,
                                            .text_digest = comparison_.text_digest,
                                            .text_tokens = comparison_.text_tokens,
                                            .scored_tokens = comparison_.scored_tokens,
                                            .threads = comparison_.threads,
                                            .share = options_.share});
  }

  Comparison run() {
    // What an earlier run finished stands in the tables from the start, and does not count for the speed: the
    // clock starts at the first thing done now.
    for (const Cell& cell : cells_) records_.push_back(read_record(folder_of(cell)));
    take_sweep();
    try {
      say_time();
    } catch (const Stopped&) {
      tell_stopped("compare", "nothing was begun; the same command begins, or goes on where it was");
      throw;
    }
    for (std::size_t number = 0; number < cells_.size(); ++number) {
      const bool known = is_done(number);
      progress_.clear();  // training begins with a message of its own
      run_one(number);
      if (known) continue;
      progress_.finish(finished_text(cells_, number, records_[number]));
      if (cells_[number].part == CellPart::sweep_point) {
        take_sweep();
        say_rate(cells_[number].variant);
      }
      take_cells();
      write_tables(options_.folder, comparison_);
    }
    take_cells();
    write_tables(options_.folder, comparison_);
    return comparison_;
  }

 private:
  void run_one(std::size_t number) {
    const std::filesystem::path folder = folder_of(cells_[number]);
    try {
      records_[number] =
          run_cell(cells_[number], surroundings_, folder, [&](const CellProgress& at) { show(number, at); });
    } catch (const Stopped&) {
      progress_.clear();
      if (!read_record(folder).training.empty())  // else training has said it
        tell_stopped(cells_[number].label(),
                     "the trained model and every evaluation that was finished are kept; the same command "
                     "goes on");
      throw;
    }
  }

  std::filesystem::path folder_of(const Cell& cell) const { return cell_folder(options_.folder, cell); }

  /// Of a point of a sweep a record is complete only once the comparison has taken it over.
  bool is_done(std::size_t number) const {
    const CellRecord& record = records_[number];
    return record.complete || (cells_[number].part == CellPart::sweep_point && !record.results.empty());
  }

  /// Chooses the rates that can be chosen by now; the runs of the first seed are then known by their folders.
  void take_sweep() {
    comparison_.sweep = measured_sweep(cells_, records_);
    take_rates(cells_, comparison_.sweep);
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      if (cells_[i].part == CellPart::swept) records_[i] = read_record(folder_of(cells_[i]));
    }
  }

  /// The rate of a variant, when it has just been chosen.
  void say_rate(const std::string& variant) {
    for (const SweepPoint& point : comparison_.sweep) {
      if (!point.chosen || point.variant != variant) continue;
      if (point.status != "ok") {
        progress_.clear();
        spdlog::warn("{}: every learning rate of the sweep diverged; the lowest, {}, is taken", variant,
                     point.lr);
        continue;
      }
      const auto [lowest, highest] = std::ranges::minmax(comparison_.config.compare.sweep);
      const std::string_view beyond = point.multiple == highest  ? "; it is the highest tried"
                                      : point.multiple == lowest ? "; it is the lowest tried"
                                                                 : "";
      progress_.finish(fmt::format(
          "{}: optimizer.lr {} is taken, {} times the rate given, of the lowest loss at {} on the scored "
          "targets{}",
          variant, point.lr, point.multiple, point.train_length, beyond));
    }
  }

  /// The cells that are complete, in the order of the plan.
  void take_cells() {
    comparison_.cells.clear();
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      if (records_[i].complete && cells_[i].part != CellPart::sweep_point)
        comparison_.cells.push_back(finished_cell(cells_[i], records_[i]));
    }
  }

  void show(std::size_t number, const CellProgress& at) {
    const double share = layout_.workload.done(number, at) / layout_.workload.total();
    if (!time_left_) time_left_.emplace(share);
    if (progress_.due()) progress_.show(line_.text(number, at, share, time_left_->seconds(share)));
  }

  /// How long what is left will take, before any of it begins.
  void say_time() const {
    if (options_.progress == ProgressStyle::none) return;
    std::vector<std::string> variants;
    std::size_t undone = 0;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      if (is_done(i)) continue;
      variants.push_back(cells_[i].variant);
      ++undone;
    }
    if (undone == 0) return;
    const auto speeds = measure_speeds(layout_, variants, store_, tokenizer_);
    if (!speeds) return;  // too large: training says so
    ComparisonTime left;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      if (!is_done(i)) left += time_left_of(i, *speeds);
    }
    const std::string cells = undone == cells_.size()
                                  ? counted(undone, "cell")
                                  : fmt::format("{} of {} left", undone, counted(cells_.size(), "cell"));
    spdlog::info("{}: about {} on {}, {} of training and {} of evaluation", cells,
                 rough_duration(left.total()), counted(thread_count(), "thread"),
                 rough_duration(left.training), rough_duration(left.evaluation));
  }

  ComparisonTime time_left_of(std::size_t number, const VariantSpeeds& speeds) const {
    const CellRecord& record = records_[number];
    ComparisonTime time = cell_time(layout_, number, speeds);
    const auto steps = static_cast<double>(std::max<Index>(1, cells_[number].config.config.train.steps));
    if (!record.training.empty()) {
      time.training = 0;
    } else if (time.training > 0) {
      time.training *= 1 - static_cast<double>(saved_step(folder_of(cells_[number]))) / steps;
    }
    const auto work = static_cast<double>(evaluation_work(cells_[number], layout_.targets).size() +
                                          probe_work(cells_[number]).size());
    const auto done = static_cast<double>(record.results.size() + record.probes.size());
    time.evaluation *= std::max(0.0, 1 - done / work);
    return time;
  }

  const CompareOptions& options_;
  const TokenStore& store_;
  const Tokenizer& tokenizer_;
  const Layout& layout_;
  std::vector<Cell>& cells_;
  CellSurroundings surroundings_;
  Comparison comparison_;
  std::vector<CellRecord> records_;
  Progress progress_;
  ComparisonLine line_;
  std::optional<TimeLeft> time_left_;
};

}  // namespace

void require_comparison(const RunFolder& folder) { folder.require_none("checkpoints", "a single run"); }

Comparison run_comparison(const ResolvedConfig& config, const TokenStore& store, const Tokenizer& tokenizer,
                          const CompareOptions& options) {
  if (config.config.train.threads > 0) set_thread_count(config.config.train.threads);
  Layout layout = lay_out(config, store.size(), tokenizer.size(), options.share);

  // All that can be refused has been: a folder that holds the configuration of a comparison which cannot be
  // would stand in the way of the one that was meant.
  const RunFolder run(options.folder);
  require_comparison(run);
  run.require_vacant(comparison_outputs);
  run.require_vacant({"cells", "comparison.json"});
  run.claim(config, StoredFor::comparison);
  const FolderLock lock(options.folder, "compare");
  require_share(options.folder, options.share);
  const SignalGuard signals;
  Job job(config, store, tokenizer, layout, options);
  job.write_facts();
  return job.run();
}

}  // namespace tapeline
