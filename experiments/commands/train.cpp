#include "experiments/commands/train.h"

#include <fmt/format.h>
#include <unistd.h>

#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/counted.h"
#include "core/error.h"
#include "core/excerpt.h"
#include "experiments/command_line/as_typed.h"
#include "experiments/commands/common.h"
#include "experiments/commands/dry_run.h"
#include "experiments/duration.h"
#include "experiments/exit_code.h"
#include "experiments/output.h"
#include "train/config_warnings.h"
#include "train/log.h"
#include "train/metrics.h"
#include "train/progress.h"
#include "train/run_folder.h"
#include "train/scored_set.h"
#include "train/step_trace.h"
#include "train/trainer.h"
#include "train/training_corpus.h"

namespace tapeline {
namespace {

constexpr std::string_view goes_on_with_input = "--resume goes on, with the same text on standard input";
constexpr Index not_given = std::numeric_limits<Index>::min();

struct TrainCommand {
  ConfigOptions config;
  std::string out;
  bool resume = false;
  std::string from;
  std::string budget;
  std::string trace;
  Index trace_steps = not_given;
  OutputOptions output;
};

constexpr Index most_trace_steps = 1000;  // of a large model some hundred megabytes

// Before the work starts. The run folder itself may not be there yet: then it is made.
StepTrace checked_trace(const TrainCommand& command, const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  const bool given = command.trace_steps != not_given;
  const Index steps = given ? command.trace_steps : StepTrace::default_steps;
  require<ConfigError>(!command.trace.empty() || !given,
                       "--trace-steps {}: give the file to write too, with --trace FILE", steps);
  require<ConfigError>(steps >= 1 && steps <= most_trace_steps, "--trace-steps {}: it must be from 1 to {}",
                       steps, most_trace_steps);
  if (command.trace.empty()) return StepTrace(fs::path());
  std::error_code none;
  fs::path file = fs::absolute(command.trace, none).lexically_normal();
  if (!file.has_filename()) file = file.parent_path();
  const RunFolder run(fs::absolute(folder, none).lexically_normal() / "");
  for (const fs::path& own :
       {run.path().parent_path(), run.config_file(), run.metrics_file(), run.checkpoints()}) {
    require<ConfigError>(file != own, "--trace \"{}\": the run keeps something else there; give another name",
                         excerpt(command.trace));
  }
  const bool in_new_folder = file.parent_path() == run.path().parent_path() && !fs::exists(folder, none);
  if (!in_new_folder) check_trace_file(command.trace);
  return StepTrace(command.trace, steps);
}

std::string json_summary(const TrainOutcome& outcome, const std::filesystem::path& folder) {
  return printed_json({{"folder", folder.string()},
                       {"checkpoint", outcome.checkpoint.string()},
                       {"steps", outcome.steps},
                       {"complete", outcome.complete},
                       {"skipped_steps", outcome.skipped},
                       {"loss", json_number(outcome.loss)},
                       {"validation_loss", json_number(outcome.validation_loss)},
                       {"best_validation_loss", json_number(outcome.best_validation_loss)},
                       {"seconds", outcome.seconds},
                       {"tokens_per_second", outcome.tokens_per_second}});
}

std::string trace_text(const StepTrace& trace) {
  if (trace.file().empty()) return {};
  if (trace.written() == 0)
    return fmt::format("no step was made: {} is not written\n", trace.file().string());
  return fmt::format("traced {} in {}: {}\n", counted(trace.written(), "step"), trace.file().string(),
                     how_to_open_trace);
}

// Standard input is gone once it is read, and the run keeps a digest of the text only.
bool reads_standard_input(const Config& config) { return config.data.source == "-"; }

std::string summary(const TrainOutcome& outcome, const std::filesystem::path& folder, const Config& config,
                    std::string_view goes_on) {
  std::string text =
      fmt::format("{}, loss {:.4f} nats a token", counted(outcome.steps, "step"), outcome.loss);
  if (outcome.validation_loss == outcome.validation_loss) {
    text += fmt::format(", validation loss {:.4f}", outcome.validation_loss);
  }
  if (outcome.tokens_per_second > 0) {
    text += fmt::format(", {} at {} tokens/s", duration_text(outcome.seconds),
                        short_number(outcome.tokens_per_second));
  }
  if (outcome.skipped > 0) text += fmt::format(", {} skipped", counted(outcome.skipped, "update"));
  text += fmt::format("\nsaved as {}\n", outcome.checkpoint.string());
  if (!outcome.complete) {
    return text + fmt::format("stopped by --budget after step {} of {}; the same command with {}\n",
                              outcome.steps, config.train.steps, goes_on);
  }
  return text + fmt::format("next: tapeline evaluate {}{}\n", shell_quoted(folder.string()),
                            reads_standard_input(config) ? " --text FILE" : "");
}

// The checkpoint that the run will go on from, or start from.
std::optional<Checkpoint> earlier_checkpoint(const TrainCommand& command, const RunFolder& run) {
  const auto latest = command.resume ? run.latest() : std::nullopt;
  if (latest) return Checkpoint(*latest);
  if (!command.from.empty()) return Checkpoint(resolve_checkpoint(command.from));
  return std::nullopt;
}

/// The configuration of the checkpoint that a run starts from, as one to start from.
std::optional<ResolvedConfig> start_of(const TrainCommand& command) {
  if (command.from.empty()) return std::nullopt;
  ResolvedConfig config = Checkpoint(resolve_checkpoint(command.from)).config();
  for (auto& [key, origin] : config.origins) {
    if (origin != "default" && !origin.starts_with("--from")) origin = fmt::format("--from ({})", origin);
  }
  return config;
}

/// Of a preset given beside --from: what it changes that nobody would look for.
void warn_of_preset(const ResolvedConfig& start, const ResolvedConfig& config) {
  for (const ConfigDifference& difference : config_difference(start.config, config.config)) {
    if (difference.key != "positional.kind" && difference.key != "data.source") continue;
    const std::string& origin = config.origins.at(difference.key);
    if (origin == "default" || origin.starts_with("preset"))
      spdlog::warn("--from: the weights come from a run with {} {}, this one has {} ({})", difference.key,
                   difference.first, difference.second, origin);
  }
}

/// What is left to the trained length follows it, away from the one that the weights know.
void warn_of_length(const ResolvedConfig& start, const ResolvedConfig& config) {
  const Index before = start.config.train.length, now = config.config.train.length;
  const std::vector<std::string> keys = keys_by_trained_length(config.config);
  if (before == now || keys.empty()) return;
  spdlog::warn(
      "--from: the weights were trained at length {}, this run trains at {}, and what is left to the trained "
      "length now goes by {}: {}; give numbers where the weights' own are meant",
      before, now, now, fmt::join(keys, ", "));
}

std::string resume_with_input(const std::filesystem::path& folder) {
  return fmt::format("give the same text there again: tapeline train --out {} --resume < FILE",
                     shell_quoted(folder.string()));
}

/// Before the text is read: whoever goes on must give it again.
void check_input_of_resumed(const Config& config, const std::filesystem::path& folder) {
  require<ConfigError>(
      !reads_standard_input(config) || ::isatty(STDIN_FILENO) == 0,
      "--resume: the run in \"{}\" is trained on standard input, which is a terminal now; {}",
      excerpt(folder.string()), resume_with_input(folder));
}

/// Before a first run begins: what its text must be kept for.
void tell_input_is_needed(const Config& config, const std::filesystem::path& folder) {
  if (!reads_standard_input(config)) return;
  spdlog::info("the text comes from standard input and is not kept; to go on with this run, {}",
               resume_with_input(folder));
}

Corpus training_corpus(ResolvedConfig& config, const Checkpoint* earlier, const std::filesystem::path& folder,
                       bool goes_on) {
  const SplitRule split = [&](Index tokens) { return configured_splits(config.config, tokens); };
  try {
    return load_training_corpus(config, split, earlier);
  } catch (const DataError& error) {
    if (!goes_on || !reads_standard_input(config.config)) throw;
    fail<DataError>("--resume: {}; the run in \"{}\" is trained on standard input: {}", error.what(),
                    excerpt(folder.string()), resume_with_input(folder));
  }
}

int train(const TrainCommand& command) {
  command.output.set_up_computing();
  const double budget = command.budget.empty() ? 0 : parse_duration(command.budget, "--budget");
  const std::filesystem::path folder =
      command.out.empty() ? std::filesystem::path("runs") / ("train-" + command.config.name())
                          : std::filesystem::path(command.out);
  const RunFolder run(folder);
  run.require_none("cells", "a comparison");
  const bool goes_on = command.resume && run.holds_run();
  require<ConfigError>(
      !command.resume || goes_on || !command.config.says_nothing() || run.latest(),
      "\"{}\" holds no run to go on with; name the folder of one with --out, or say what to train",
      excerpt(folder.string()));
  const std::optional<ResolvedConfig> start = goes_on ? std::nullopt : start_of(command);
  ResolvedConfig config = command.config.resolve(goes_on ? run.config_file().string() : "", start);
  if (start && command.config.names_preset()) warn_of_preset(*start, config);
  if (start) warn_of_length(*start, config);
  if (!config.config.compare.variants.empty() && !goes_on)
    spdlog::warn(
        "the configuration has [[compare.variant]] tables: they are for tapeline compare; this trains what "
        "stands beside them");
  for (const std::string& warning : positional_warnings(config.config)) spdlog::warn("{}", warning);
  if (goes_on)
    config.origins = run.origins();  // as it began: claim() sees to it that the values are the same
  const bool whole = !text_decides_tokens(config.config);  // nothing of the config waits for the text
  StepTrace trace = checked_trace(command, folder);
  if (whole && !command.config.dry_run() && run.holds_run())
    run.claim(config);  // another configuration: told before any text is read

  const std::optional<Checkpoint> earlier =
      whole ? std::optional<Checkpoint>() : earlier_checkpoint(command, run);
  if (goes_on && !command.config.dry_run()) check_input_of_resumed(config.config, folder);
  const Corpus corpus = training_corpus(config, earlier ? &*earlier : nullptr, folder, goes_on);
  if (command.config.dry_run()) return dry_run(config, command.output);
  if (!goes_on) tell_input_is_needed(config.config, folder);
  const TrainingText text{corpus.store, *corpus.tokenizer, corpus.splits};

  TrainOptions options;
  options.folder = folder;
  options.resume = command.resume;
  if (reads_standard_input(config.config)) options.goes_on = goes_on_with_input;
  if (!command.from.empty()) options.from = resolve_checkpoint(command.from);
  options.budget_seconds = budget;
  options.progress = progress_style(command.output.quiet);
  options.trace = &trace;
  const TrainOutcome outcome = train_model(config, text, options);
  write_output(command.output.json
                   ? json_summary(outcome, folder)
                   : trace_text(trace) + summary(outcome, folder, config.config, options.goes_on));
  return exit_code::done;
}

}  // namespace

Command train_command() {
  const auto options = std::make_shared<TrainCommand>();
  Command command{
      .name = "train",
      .description = "one model, on any text",
      .examples = {fmt::format("tapeline train --text my.txt --set positional.kind={} --out runs/mine",
                               example_encodings({"alibi"}))},
      .run = [options] { return train(*options); },
      .computes = true};
  options->config.add_to(command);
  const Option more[] = {
      {.name = "--out",
       .value = "DIR",
       .help = "the run folder; default runs/train-<preset or config name>",
       .target = &options->out,
       .path = Option::Path::folder},
      {.name = "--resume",
       .help = "go on with the run that the folder holds, with its configuration",
       .target = &options->resume},
      {.name = "--from",
       .value = "CHECKPOINT",
       .help = "start from the weights of this checkpoint or run folder, and from its configuration unless "
               "--preset is given",
       .target = &options->from,
       .path = Option::Path::file},
      {.name = "--budget",
       .value = "TIME",
       .help = "stop, saved, before a step that would end later than this: 90s, 10m, 1h30m; --resume goes on",
       .target = &options->budget},
      {.name = "--trace",
       .value = "FILE",
       .help = "write the ops of the first steps of this run for chrome://tracing or Perfetto",
       .target = &options->trace,
       .path = Option::Path::file},
      {.name = "--trace-steps",
       .value = "N",
       .help = fmt::format("how many steps --trace shows; default {}", StepTrace::default_steps),
       .target = &options->trace_steps},
  };
  command.options.insert(command.options.end(), std::begin(more), std::end(more));
  command.details = {
      "Trains one model and saves it again and again: every checkpoint is whole or is not there, and holds "
      "the weights, the state of the optimizer, the place in the text, the tokenizer and the configuration. "
      "The last few are kept, and the one with the lowest validation loss.",
      "A run that was stopped by a signal, by --budget or by a power cut goes on with --resume; the weights "
      "that it ends with are, to the last bit, those of an undisturbed run on the same number of threads."};
  options->output.add_to(command);
  return command;
}

}  // namespace tapeline
