#include "experiments/commands/evaluate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include "core/counted.h"
#include "core/error.h"
#include "core/excerpt.h"
#include "core/parallel.h"
#include "experiments/commands/checkpoint_text.h"
#include "experiments/commands/common.h"
#include "experiments/commands/positional_changes.h"
#include "experiments/evaluation_output.h"
#include "experiments/evaluation_run.h"
#include "experiments/exit_code.h"
#include "experiments/output.h"
#include "experiments/table.h"
#include "train/checkpoint.h"
#include "train/config_derived.h"
#include "train/config_table.h"
#include "train/config_text.h"
#include "train/config_warnings.h"
#include "train/evaluate.h"
#include "train/log.h"
#include "train/probe_plan.h"
#include "train/progress.h"
#include "train/run_folder.h"
#include "train/signals.h"

namespace tapeline {
namespace {

struct EvaluateCommand {
  std::string checkpoint, text, lengths, protocols, stride, sliding_up_to, sliding_tokens, scored, probes,
      threads;
  std::vector<std::string> positional;
  OutputOptions output;
};

bool asks_for(const Config& config, Protocol protocol) {
  return std::ranges::any_of(config.evaluate.protocols,
                             [&](const std::string& name) { return parse_protocol(name) == protocol; });
}

// A length named for sliding alone that sliding does not reach would be left out of the table in silence.
void check_sliding_lengths(const Config& config) {
  if (asks_for(config, Protocol::nonoverlapping)) return;
  const Index limit = sliding_limit(config);
  const std::vector<Index> lengths = evaluation_lengths(config);
  for (const Index length : lengths) {
    require<ConfigError>(length <= limit,
                         "--lengths {} with sliding windows alone: they go up to {} (evaluate.sliding_up_to "
                         "\"{}\"); give --sliding-up-to {}, or a shorter length",
                         length, limit, config.evaluate.sliding_up_to, std::ranges::max(lengths));
  }
}

// A stride of the configuration is cut where a window is shorter; one given by hand is meant as it stands.
void check_stride(const Config& config) {
  if (!asks_for(config, Protocol::sliding)) return;
  const Index stride = sliding_stride(config);
  for (const Index length : evaluation_lengths(config)) {
    require<ConfigError>(length > sliding_limit(config) || stride <= length,
                         "--stride {} is above the length {}: a window cannot score more targets than it "
                         "covers; give at most {}, or leave that length out of --lengths",
                         stride, length, length);
  }
}

// The checkpoint's own configuration with what the command line changes.
ResolvedConfig changed_config(const Checkpoint& checkpoint, const EvaluateCommand& command) {
  ResolvedConfig config = with_positional_changes(checkpoint, command.positional);
  const auto set = [&config](const std::string& key, const std::string& value, const std::string& flag) {
    if (!value.empty()) assign(config, {key, value, flag});
  };
  set("evaluate.lengths", command.lengths, "--lengths");
  set("evaluate.protocols", command.protocols, "--protocol");
  set("evaluate.stride", command.stride, "--stride");
  set("evaluate.sliding_up_to", command.sliding_up_to, "--sliding-up-to");
  set("evaluate.sliding_tokens", command.sliding_tokens, "--sliding-tokens");
  set("evaluate.probes", command.probes, "--probes");
  if (!command.lengths.empty()) check_sliding_lengths(config.config);
  if (!command.stride.empty()) check_stride(config.config);
  set("evaluate.scored", command.scored, "--scored");
  set("train.threads", command.threads, "--threads");
  return config;
}

// The targets: of a text given by hand every token but the first; of the trained text the scored set in its
// validation blocks, cut as they were for training.
ScoredSet chosen_targets(const Checkpoint& checkpoint, const Config& config, const TokenStore& store,
                         bool by_hand) {
  if (by_hand) return scored_all({{0, store.size()}});
  const Splits splits = configured_splits(checkpoint.config().config, store.size());
  require<ConfigError>(
      !splits.validation.empty(),
      "\"{}\" was trained without validation text (data.validation_share 0); give a text with --text",
      checkpoint.path().string());
  if (config.evaluate.scored == "all") return scored_all(splits.validation);
  return scored_set(splits.validation, std::ranges::max(evaluation_lengths(config)));
}

// Why nothing comes of some of the probes that were named.
std::vector<std::string> probes_without_work(const Config& config) {
  std::vector<std::string> reasons;
  for (const std::string& probe : probe_names()) {
    if (!wants_probe(config, probe)) continue;
    if (std::string why = why_no_work(config, probe); !why.empty()) reasons.push_back(std::move(why));
  }
  return reasons;
}

// Windows that no stretch of the text fills: their length is said, and is not what is measured.
void warn_of_short_text(const Transformer& model, const EvaluationPlan& plan, const TokenStore& text,
                        bool by_hand) {
  Index longest = 0;  // tokens of the longest stretch that windows may cover
  for (const ScoredSegment& segment : plan.scored.segments)
    longest = std::max(longest, segment.begin + segment.count - segment.history_begin);
  std::set<Index> beyond;
  for (const EvaluationCell& cell : plan.cells) {
    if (cell.length >= longest && !refused_length(model, cell.length)) beyond.insert(cell.length);
  }
  if (beyond.empty()) return;
  spdlog::warn(
      "{} has {}, too few for a window of length {}: what is told there is measured in shorter windows; give "
      "{} tokens or more{}, or shorter --lengths",
      by_hand ? fmt::format("\"{}\"", excerpt(text.source())) : "the longest block of validation text",
      counted(longest, "token"), fmt::join(beyond, " or "), *beyond.rbegin() + 1,
      by_hand ? "" : " with --text");
}

// A loss that is no number fails the command, and so does a length that was named and is refused: the results
// tell why.
int verdict(const std::vector<EvaluationResult>& results, bool lengths_named) {
  int code = exit_code::done;
  std::string told;
  std::set<Index> refused;
  for (const EvaluationResult& result : results) {
    if (result.status == "refused") refused.insert(result.cell.length);
    if (result.status != "diverged") continue;
    code = exit_code::failed;
    if (result.reason != told) write_error("evaluate: " + result.reason);
    told = result.reason;
  }
  if (refused.empty() || !lengths_named) return code;
  write_error(fmt::format("evaluate: --lengths names {}, refused by the model as the results tell",
                          fmt::join(refused, " and ")));
  return exit_code::failed;
}

int evaluate(const EvaluateCommand& command) {
  command.output.set_up_computing();
  const Checkpoint checkpoint(resolve_checkpoint(command.checkpoint));
  const ResolvedConfig config = changed_config(checkpoint, command);
  for (const std::string& warning : positional_warnings(config.config)) spdlog::warn("{}", warning);
  if (config.config.train.threads > 0) set_thread_count(config.config.train.threads);
  const SignalGuard signals;
  const std::unique_ptr<Tokenizer> tokenizer = checkpoint.make_tokenizer();
  const TokenStore store = checkpoint_text(checkpoint, command.text, *tokenizer);
  const EvaluationPlan plan =
      evaluation_plan(config.config, chosen_targets(checkpoint, config.config, store, !command.text.empty()));

  const std::unique_ptr<Transformer> model = load_model(checkpoint, config.config);
  warn_of_short_text(*model, plan, store, !command.text.empty());
  Measured measured;
  try {
    measured = run_evaluation({*model, store, *tokenizer, config.config, plan},
                              progress_style(command.output.quiet));
  } catch (const Stopped&) {
    tell_stopped("evaluate",
                 "what was measured before is not kept, nothing is printed; the same command begins anew");
    throw;
  }
  const EvaluationReport report{.checkpoint = checkpoint.path().string(),
                                .kind = config.config.positional.name(),
                                .settings = positional_changes(config.config),
                                .changes = positional_differences(checkpoint, config.config),
                                .train_length = config.config.train.length,
                                .step = checkpoint.record().step,
                                .text = store.source(),
                                .text_digest = store.digest(),
                                .targets = plan.scored.tokens(),
                                .chosen_for = plan.scored.longest,
                                .results = std::move(measured.results),
                                .tells_positions = wants_probe(config.config, "positions"),
                                .tells_tail = wants_probe(config.config, "tail"),
                                .probes = std::move(measured.probes),
                                .not_measured = command.probes.empty() ? std::vector<std::string>()
                                                                       : probes_without_work(config.config)};
  write_output(command.output.json ? evaluation_json(report) : evaluation_table(report, terminal_width()));
  return verdict(report.results, !command.lengths.empty());
}

std::vector<std::string> probe_offers() {
  std::vector<std::string> offers = probe_names();
  offers.insert(offers.end(), {"all", "none"});
  return offers;
}

}  // namespace

Command evaluate_command() {
  const auto options = std::make_shared<EvaluateCommand>();
  Command command{.name = "evaluate",
                  .description = "one trained model at many lengths",
                  .examples = {"tapeline evaluate runs/train-toy --lengths 1x,4x,1024",
                               "tapeline evaluate runs/train-toy --lengths 1x,8x --probes history,shuffle"},
                  .run = [options] { return evaluate(*options); },
                  .computes = true};
  command.options = {
      checkpoint_word(options->checkpoint),
      {.name = "--text",
       .value = "PATH",
       .help = "another text, every token but the first scored by windows side by side; default: the "
               "validation blocks of the text that it was trained on",
       .target = &options->text,
       .path = Option::Path::file},
      {.name = "--lengths",
       .value = "LIST",
       .help = "multiples of the trained length (16x) or numbers, between commas; default: as configured",
       .target = &options->lengths},
      {.name = "--protocol",
       .value = "LIST",
       .help =
           "nonoverlapping (windows side by side), sliding (full history), or both; default: as configured",
       .target = &options->protocols,
       .offers = {"nonoverlapping", "sliding"},
       .list = true},
      {.name = "--stride",
       .value = "S",
       .help = "sliding: new targets a window; default half the trained length",
       .target = &options->stride},
      {.name = "--sliding-up-to",
       .value = "LENGTH",
       .help = "longest window of sliding, and of the probes history and shuffle; default: as configured, 8x",
       .target = &options->sliding_up_to},
      {.name = "--sliding-tokens",
       .value = "N",
       .help = "targets that sliding windows score, spread over all; default: as configured, 4096",
       .target = &options->sliding_tokens},
      {.name = "--probes",
       .value = "LIST",
       .help = "what is measured besides: residual, in_context, hard_window, phase, history, shuffle, "
               "attention, and the tables of positions and tail; all, none; default: as configured",
       .target = &options->probes,
       .offers = probe_offers(),
       .list = true},
      {.name = "--scored",
       .value = "all",
       .help = "every token but the first of each block, by windows side by side; sliding ones score "
               "--sliding-tokens of them",
       .target = &options->scored,
       .offers = {"all"}},
      positional_option(options->positional),
      {.name = "--threads",
       .value = "N",
       .help = "threads to use; default: as trained",
       .target = &options->threads},
  };
  command.details = {
      "Measures the loss of a trained model in windows of each length, by the same targets for every length, "
      "in nats a token and bits a byte. Nonoverlapping windows begin without history; sliding ones give "
      "every target the full window before it, and cost more: they score --sliding-tokens of the targets, "
      "evenly spaced, also of a text given by hand and with --scored all (as many as there are, and they "
      "score all), and lengths up to --sliding-up-to.",
      "--positional runs the model with other positions than it was trained with: a scaling of rope, a "
      "window of keys, what a learned table does past its end. A factor \"auto\" is each length over the "
      "trained one. What the weights depend on is refused.",
      "--probes measures more of the model. From the losses themselves: positions (loss by position in the "
      "window), tail (its second half), residual (what longer windows give beside a smaller share of early "
      "tokens), in_context (late in the window against early). With runs of their own: hard_window "
      "(attention limited to as many keys as in training), phase (windows side by side on a grid shifted by "
      "half a window: whether the place of the cuts matters), history (256 targets with less and less before "
      "them, and the effective context), shuffle (these targets with the farther history out of order), "
      "attention (entropy, weight on the first tokens and distance by head). history and shuffle are "
      "measured at the trained length and at the longest one up to --sliding-up-to, and take the longest.",
      "A length that the encoding refuses (past the rows of a learned table) stands in the table as refused; "
      "when it was named on the command line the exit status is 1."};
  options->output.add_to(command);
  return command;
}

}  // namespace tapeline
