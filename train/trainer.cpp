#include "train/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/counted.h"
#include "core/error.h"
#include "core/excerpt.h"
#include "core/parallel.h"
#include "train/checkpoint.h"
#include "train/config_derived.h"
#include "train/evaluate.h"
#include "train/flops.h"
#include "train/folder_lock.h"
#include "train/history.h"
#include "train/log.h"
#include "train/metrics.h"
#include "train/resume.h"
#include "train/run_folder.h"
#include "train/schedule.h"
#include "train/signals.h"
#include "train/train_step.h"
#include "train/training_line.h"

namespace tapeline {

namespace {

// One run, from its first or from a stored step to the last.
class Run {
 public:
  Run(const ResolvedConfig& config, const TrainingText& text, const TrainOptions& options)
      : resolved_(config),
        config_(config.config),
        text_(text),
        options_(options),
        folder_(options.folder),
        shape_(step_shape(config_.train)),
        schedule_(config_.schedule, config_.optimizer.lr, config_.train.steps),
        model_(model_plan(config_)),
        optimizer_(make_optimizer(config_.optimizer, model_.parameters())),
        sampler_(text.store, text.splits.train, shape_.length, config_.train.seed),
        step_(model_, shape_, config_.model.dropout, config_.train.seed),
        line_(options.progress, prefix(), config_.train.steps) {
    record_ = fresh_record(text.store, text.tokenizer);
    require<ConfigError>(config_.data.vocabulary == text.tokenizer.size(),
                         "data.vocabulary is {}, and the text has {} tokens", config_.data.vocabulary,
                         text.tokenizer.size());
    reserve_history(record_.losses, config_.train.steps);
    inputs_.resize(static_cast<std::size_t>(shape_.tokens()));
    targets_.resize(inputs_.size());
  }

  TrainOutcome run() {
    start();
    const TimeLeft time_left(share_done());
    const Index steps_before = record_.step;
    try {
      after_step();  // what a stored step still lacks: its validation
      while (record_.step < config_.train.steps && !budget_spent(time_left, record_.step - steps_before)) {
        one_step(time_left);
        after_step();
      }
    } catch (const Stopped&) {
      line_.clear();
      if (!saved_at_ || *saved_at_ != record_.step) save();
      spdlog::warn("{}stopped by a signal after step {} of {}; saved as \"{}\"; {}", prefix(), record_.step,
                   config_.train.steps, folder_.checkpoint_file(record_.step).string(), options_.goes_on);
      try {
        finish_trace();
      } catch (const FileError& error) {  // the run itself is stopped, and saved
        spdlog::error("{}", error.what());
      }
      throw;
    }
    finish_trace();
    if (record_.step < config_.train.steps && saved_at_ != record_.step) save();
    TrainOutcome outcome = describe_outcome();
    outcome.seconds = time_left.elapsed();
    outcome.tokens_per_second = static_cast<double>((record_.step - steps_before) * shape_.tokens()) /
                                std::max(outcome.seconds, 1e-9);
    line_.finish();
    return outcome;
  }

 private:
  /// While the model is there: the trace names its parameters.
  void finish_trace() {
    if (options_.trace != nullptr) options_.trace->finish();
  }

  void start() {
    // Before the folder becomes a run: a text that is refused leaves none behind.
    if (!text_.splits.validation.empty()) {
      const Index longest = std::ranges::max(evaluation_lengths(config_));
      validation_.scored = config_.evaluate.scored == "all" ? scored_all(text_.splits.validation)
                                                            : scored_set(text_.splits.validation, longest);
      validation_.cells = {{Protocol::nonoverlapping, shape_.length, shape_.length, false}};
    }
    begin_or_restore();
    metrics_.emplace(folder_.metrics_file(), record_.step);
    if (record_.step >= config_.train.steps) return;
    flops_ = token_flops(config_.model, model_.plan().vocabulary, shape_.length, config_.positional.keys);
    const double gemm = options_.gemm_gflops > 0
                            ? options_.gemm_gflops
                            : measured_gemm_gflops(config_.model, shape_.micro_batch * shape_.length);
    line_.start({record_.step, shape_.tokens(), flops_.training(), gemm});
    say("{}{} positions, {} parameters, text {}, {} of {} ({} of {}, {} at once), {}", prefix(),
        config_.positional.name(), short_number(static_cast<double>(model_.parameters().size())),
        excerpt(text_.store.source()), counted(config_.train.steps, "step"),
        counted(shape_.tokens(), "token"), counted(shape_.windows, "window"), shape_.length,
        shape_.micro_batch, counted(thread_count(), "thread"));
    if (record_.step > 0) say("{}going on after step {}", prefix(), record_.step);
  }

  static Checkpoint opened(const std::filesystem::path& latest) try {
    return Checkpoint(latest);
  } catch (const FileError& error) {
    fail<FileError>(
        "{}; or remove it and the file latest beside it, and the run goes on from an earlier one, or begins "
        "anew",
        error.what());
  }

  void begin_or_restore() {
    if (folder_.holds_run()) {
      folder_.claim(resolved_);  // another configuration is the better thing to hear of first
      require<ConfigError>(
          options_.resume,
          "\"{}\" holds a run already; give --resume to go on with it, or another folder with --out",
          folder_.path().string());
    }
    folder_.require_none("cells", "a comparison");
    if (!options_.resume) folder_.require_vacant();
    folder_.make();
    lock_.emplace(folder_.path(), "train");
    const auto latest = options_.resume ? folder_.latest() : std::nullopt;
    if (!latest && options_.from) {
      // The given weights are the run's checkpoint of step 0, and stand in the folder before it counts as a
      // run: whenever a kill comes, --resume alone never goes on from random weights.
      const Checkpoint from(*options_.from);
      check_same_tokens(from, record_);
      load_to_start_from(from, config_, model_.parameters());
      save();
    }
    if (latest) restore(opened(*latest));  // what cannot be gone on with leaves no config.toml behind
    if (options_.resume && !latest && !options_.from && std::filesystem::exists(folder_.metrics_file()))
      spdlog::warn("{}\"{}\" holds no checkpoint: the run begins anew", prefix(), folder_.path().string());
    folder_.claim(resolved_);
  }

  void restore(const Checkpoint& checkpoint) {
    check_resumable(checkpoint, config_, record_, prefix());
    checkpoint.load_weights(model_.parameters());
    checkpoint.load_optimizer(*optimizer_, model_.parameters());
    const int threads = record_.threads;
    record_ = checkpoint.record();
    record_.threads = threads;
    reserve_history(record_.losses, config_.train.steps);
    sampler_.seek(record_.cursor);
    saved_at_ = record_.step;
    // A kill may have come between a checkpoint and the file that names the best one.
    const HistoryEntry* best = best_entry(record_.validation_losses);
    std::error_code error;
    if (best != nullptr && std::filesystem::exists(folder_.checkpoint_file(best->step), error))
      folder_.set_best(best->step);
  }

  // Everything but the record is free to change until the update has been made: a signal in between leaves
  // the record, and so the checkpoint, at the step before.
  void one_step(const TimeLeft& time_left) {
    const auto begin = std::chrono::steady_clock::now();
    const Index number = record_.step + 1;
    const double rate = schedule_.rate(number);
    const auto [loss, report] =
        learn(number, rate, options_.trace != nullptr ? options_.trace->watch() : nullptr);
    if (!report.applied) not_applied(number, loss, report);
    record_.step = number;
    record_.cursor = sampler_.cursor();
    record_.losses.push_back({number, loss.mean()});
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    const double speed = static_cast<double>(loss.tokens) / elapsed.count();
    metrics_->write({{"step", number},
                     {"tokens", number * shape_.tokens()},
                     {"loss", loss.mean()},
                     {"lr", rate},
                     {"grad_norm", report.gradient_norm},
                     {"applied", report.applied},
                     {"tokens_per_second", speed},
                     {"gflops", flops_.training() * speed / 1e9}});
    const double left = time_left.seconds(share_done());
    line_.after_step(number, loss.mean(), left);
    if (options_.after_step) options_.after_step({number, loss.mean(), left});
    if (options_.trace != nullptr) options_.trace->after_step();
  }

  std::pair<LossSum, UpdateReport> learn(Index number, double rate, Watch* watch) {
    const WatchScope whole(watch, Timing::Kind::group, Phase::step, "step", number);
    sampler_.next(shape_.windows, inputs_, targets_, watch);
    const LossSum loss = step_.run(number, inputs_, targets_, stop_if_signalled, watch);
    const UpdateRequest request{rate, static_cast<double>(loss.tokens), config_.optimizer.clip, watch};
    return {loss, std::isfinite(loss.total) ? optimizer_->update(request) : optimizer_->refuse()};
  }

  // Whether the step after `done` steps of this process would end past the budget.
  bool budget_spent(const TimeLeft& time, Index done) const {
    if (options_.budget_seconds <= 0 || done == 0) return false;
    const double a_step = time.elapsed() / static_cast<double>(done);
    return time.elapsed() + a_step > options_.budget_seconds;
  }

  void not_applied(Index number, const LossSum& loss, const UpdateReport& report) {
    const std::string what = fmt::format("step {}: the loss is {} and the gradient norm {}, first in \"{}\"",
                                         number, loss.mean(), report.gradient_norm, report.first_bad);
    require<NumericError>(config_.train.on_nonfinite == "skip",
                          "{}; nothing was changed; lower optimizer.lr, or set train.on_nonfinite=\"skip\"",
                          what);
    line_.clear();
    spdlog::warn("{}{}; the update is skipped", prefix(), what);
    ++record_.skipped;
  }

  void after_step() {
    const Index step = record_.step, last = config_.train.steps;
    const auto due = [step](Index every) { return every > 0 && step > 0 && step % every == 0; };
    bool new_best = false, evaluated = false;
    if (!validation_.cells.empty() && (step == last || due(config_.train.evaluate_every)) &&
        !validated(step)) {
      new_best = validate();
      evaluated = true;
      const double loss = record_.validation_losses.back().value;
      require<NumericError>(
          step != last || std::isfinite(loss),
          "step {}: the validation loss is {}: this model is of no use and is not saved; lower "
          "optimizer.lr",
          step, loss);
    }
    const bool wanted = step == last || due(config_.train.checkpoint_every) || new_best;
    if (wanted && (evaluated || !saved_at_ || *saved_at_ != step)) save();
    if (new_best) folder_.set_best(step);
    if (wanted) folder_.prune(config_.train.keep);
  }

  bool validated(Index step) const {
    return !record_.validation_losses.empty() && record_.validation_losses.back().step == step;
  }

  // Returns whether it is the best so far.
  bool validate() {
    const EvaluationResult result = options_.validate ? options_.validate(record_.step)
                                                      : evaluate_cell(model_, text_.store, text_.tokenizer,
                                                                      validation_, validation_.cells.front());
    const HistoryEntry* best = best_entry(record_.validation_losses);
    const bool better = std::isfinite(result.nll) && (best == nullptr || result.nll < best->value);
    record_.validation_losses.push_back({record_.step, result.nll});
    metrics_->write({{"step", record_.step},
                     {"validation_loss", result.nll},
                     {"validation_bits_per_byte", result.bits_per_byte},
                     {"validation_tokens", result.scored_tokens}});
    line_.clear();
    say("{}step {}: validation loss {:.4f} nats a token ({:.4f} bits a byte, {})", prefix(), record_.step,
        result.nll, result.bits_per_byte, counted(result.scored_tokens, "token"));
    return better;
  }

  void save() {
    save_checkpoint(folder_.make_checkpoint_file(record_.step),
                    {model_, optimizer_.get(), resolved_, record_});
    folder_.set_latest(record_.step);
    saved_at_ = record_.step;
  }

  TrainOutcome describe_outcome() const {
    TrainOutcome outcome;
    outcome.steps = record_.step;
    outcome.complete = record_.step >= config_.train.steps;
    outcome.skipped = record_.skipped;
    outcome.loss = mean_of_last(record_.losses, 20);
    if (validated(record_.step)) outcome.validation_loss = record_.validation_losses.back().value;
    if (const HistoryEntry* best = best_entry(record_.validation_losses))
      outcome.best_validation_loss = best->value;
    outcome.checkpoint = folder_.checkpoint_file(record_.step);
    return outcome;
  }

  // Whoever shows progress of its own, as a comparison does, hears this only when verbose.
  template <class... Arguments>
  void say(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    const bool shown = options_.progress != ProgressStyle::none;
    spdlog::log(shown ? spdlog::level::info : spdlog::level::debug, format,
                std::forward<Arguments>(arguments)...);
  }

  double share_done() const {
    return static_cast<double>(record_.step) / static_cast<double>(std::max<Index>(1, config_.train.steps));
  }
  std::string prefix() const { return options_.label.empty() ? std::string() : options_.label + "  "; }

  const ResolvedConfig& resolved_;
  const Config& config_;
  const TrainingText& text_;
  const TrainOptions& options_;
  RunFolder folder_;
  std::optional<FolderLock> lock_;
  StepShape shape_;
  Schedule schedule_;
  Transformer model_;
  std::unique_ptr<Optimizer> optimizer_;
  WindowSampler sampler_;
  TrainStep step_;
  TrainingLine line_;
  std::optional<MetricsFile> metrics_;
  EvaluationPlan validation_;
  TrainingRecord record_;
  std::optional<Index> saved_at_;
  TokenFlops flops_;
  std::vector<Token> inputs_, targets_;
};

}  // namespace

TrainOutcome train_model(const ResolvedConfig& config, const TrainingText& text,
                         const TrainOptions& options) {
  if (config.config.train.threads > 0) set_thread_count(config.config.train.threads);
  const SignalGuard guard;
  return Run(config, text, options).run();
}

}  // namespace tapeline
