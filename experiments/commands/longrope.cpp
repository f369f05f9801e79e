#include "experiments/commands/longrope.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/counted.h"
#include "core/error.h"
#include "core/files.h"
#include "core/parallel.h"
#include "experiments/commands/checkpoint_text.h"
#include "experiments/commands/common.h"
#include "experiments/commands/positional_changes.h"
#include "experiments/exit_code.h"
#include "experiments/longrope/search.h"
#include "experiments/output.h"
#include "experiments/table.h"
#include "layers/positional/number_text.h"
#include "layers/positional/rope_scaling_options.h"
#include "layers/positional/rotated_width.h"
#include "train/checkpoint.h"
#include "train/config_derived.h"
#include "train/config_table.h"
#include "train/config_text.h"
#include "train/evaluate.h"
#include "train/log.h"
#include "train/progress.h"
#include "train/run_folder.h"
#include "train/signals.h"

namespace tapeline {
namespace {

struct LongropeCommand {
  std::string checkpoint, target, text, out, threads;
  FactorSearch search;
  Index tokens = 8192;
  OutputOptions output;
};

/// The trained rotation, as a search needs it.
struct TrainedRotation {
  double base = 0;
  Index pairs = 0;
  double original_length = 0;
};

TrainedRotation trained_rotation(const Checkpoint& checkpoint) {
  const Config& config = checkpoint.config().config;
  require<ConfigError>(
      config.positional.uses("rope"),
      "\"{}\" was trained with {} positions; longrope's factors belong to the frequencies of rope",
      checkpoint.path().string(), config.positional.name());
  const auto value = [&](std::string_view option) {
    return find_config_key(fmt::format("positional.rope.{}", option))->get(config);
  };
  TrainedRotation trained;
  trained.base = std::get<double>(value("base"));
  trained.pairs = rotated_width("rope", std::get<double>(value("fraction")), config.model.head_width()) / 2;
  trained.original_length =
      number_or_word("positional.rope.original_length", std::get<std::string>(value("original_length")))
          .value_or(static_cast<double>(config.train.length));
  return trained;
}

using Keys = std::vector<std::pair<std::string, std::string>>;

/// The keys of the factors as they stand in a config, under [positional.rope].
Keys factor_keys(std::span<const double> factors, double original_length) {
  std::vector<std::string> numbers;
  for (const double factor : factors) numbers.push_back(number_text(factor));
  return {{"scaling", "\"longrope\""},
          {"original_length", fmt::format("{}", original_length)},
          {"long_factors", fmt::format("[{}]", fmt::join(numbers, ", "))}};
}

/// The trained configuration without whatever scaling it had, with these factors.
Config with_factors(const Checkpoint& checkpoint, std::span<const double> factors, double original_length) {
  ResolvedConfig config = checkpoint.config();
  for (const OptionField& field : rope_scaling_fields()) {
    find_config_key(fmt::format("positional.rope.{}", field.name))->set(config.config, field.initial);
  }
  for (const auto& [name, value] : factor_keys(factors, original_length)) {
    assign(config, {fmt::format("positional.rope.{}", name), value, "longrope"});
  }
  return config.config;
}

/// About `tokens` targets in whole windows of `length`, evenly spaced over the ranges.
ScoredSet search_windows(const std::vector<TokenRange>& ranges, Index length, Index tokens) {
  std::vector<Index> begins;
  for (const TokenRange& range : ranges) {
    for (Index begin = range.begin; begin + length + 1 <= range.begin + range.count; begin += length) {
      begins.push_back(begin);
    }
  }
  require<ConfigError>(
      !begins.empty(),
      "the text has no piece of {} tokens for a window of --target {}; give a longer one with --text",
      length + 1, length);
  const auto wanted = static_cast<std::size_t>(std::max<Index>(1, tokens / length));
  const std::size_t count = std::min(wanted, begins.size());
  ScoredSet set;
  for (std::size_t window = 0; window < count; ++window) {
    const Index begin = begins[window * begins.size() / count];
    set.segments.push_back({.history_begin = begin, .begin = begin + 1, .count = length});
  }
  return set;
}

/// The text of the search: given by hand, or what the model was trained on without its validation blocks,
/// which stay what evaluate measures by.
ScoredSet open_windows(const Checkpoint& checkpoint, const LongropeCommand& command,
                       const Tokenizer& tokenizer, Index target, std::optional<TokenStore>& store) {
  const Config& config = checkpoint.config().config;
  if (!command.text.empty()) {
    store.emplace(checkpoint_text(checkpoint, command.text, tokenizer));
    return search_windows({{0, store->size()}}, target, command.tokens);
  }
  store.emplace(checkpoint_text(checkpoint, "", tokenizer));
  return search_windows(configured_splits(config, store->size()).train, target, command.tokens);
}

/// What has to be taken back of the scaling that the model was trained with, for the factors to stand alone.
Keys neutral_keys(const Config& trained) {
  Keys keys;
  for (const OptionField& field : rope_scaling_fields()) {
    const ConfigKey* key = find_config_key(fmt::format("positional.rope.{}", field.name));
    const bool of_factors =
        field.name == "scaling" || field.name == "original_length" || field.name == "long_factors";
    if (of_factors || key->get(trained) == field.initial) continue;
    keys.emplace_back(field.name, option_text(field.initial));
  }
  return keys;
}

std::string factors_fragment(const Checkpoint& checkpoint, Index target, const FactorSearchResult& result,
                             double original_length) {
  std::string text = fmt::format("# {}: {} nats a token in contexts of {}\n[positional.rope]\n",
                                 checkpoint.path().string(), number_text(result.best.loss), target);
  for (const Keys& keys :
       {factor_keys(result.best.factors, original_length), neutral_keys(checkpoint.config().config)}) {
    for (const auto& [name, value] : keys) text += fmt::format("{} = {}\n", name, value);
  }
  return text;
}

std::string factors_table(const FactorSearchResult& result) {
  Table table;
  table.column("factors", Table::Align::left).column("nats/token").column("slowest pair");
  const auto row = [&](const std::string& name, const FactorList& list) {
    table.row({name, fmt::format("{:.4f}", list.loss), fmt::format("{:.2f}", list.factors.back())});
  };
  for (const FactorList& start : result.starts) row(start.name, start);
  row("found", result.best);
  return table.text(terminal_width());
}

int longrope(const LongropeCommand& command) {
  command.output.set_up_computing();
  const Checkpoint checkpoint(resolve_checkpoint(command.checkpoint));
  ResolvedConfig settings = checkpoint.config();
  if (!command.threads.empty()) assign(settings, {"train.threads", command.threads, "--threads"});
  if (settings.config.train.threads > 0) set_thread_count(settings.config.train.threads);
  const TrainedRotation trained = trained_rotation(checkpoint);
  const Index target = length_in_tokens(command.target, settings.config.train.length, "--target");
  require<ConfigError>(
      static_cast<double>(target) > trained.original_length,
      "--target {} is {} tokens; factors are searched for contexts longer than the original length, {}",
      command.target, target, trained.original_length);
  require<ConfigError>(command.tokens >= 1, "--tokens {}; at least 1 is expected", command.tokens);
  constexpr Index most_lists = 100000;
  require<ConfigError>(command.search.population >= 4 && command.search.population <= most_lists,
                       "--population {}; it must lie between 4 and {}", command.search.population,
                       most_lists);
  require<ConfigError>(command.search.rounds >= 0 && command.search.rounds <= most_lists,
                       "--rounds {}; it must lie between 0 and {}", command.search.rounds, most_lists);

  const auto plain = load_model(checkpoint, settings.config);
  require<ConfigError>(target <= plain->max_length().value_or(target),
                       "--target {} is {} tokens; {} positions of this model end at {}", command.target,
                       target, plain->limited_by(), plain->max_length().value_or(target));
  if (!command.out.empty()) check_can_write(command.out);

  const SignalGuard signals;
  const std::unique_ptr<Tokenizer> tokenizer = checkpoint.make_tokenizer();
  std::optional<TokenStore> store;
  EvaluationPlan plan;
  plan.scored = open_windows(checkpoint, command, *tokenizer, target, store);
  const EvaluationCell cell{Protocol::nonoverlapping, target, target, false};
  const auto loss = [&](std::span<const double> factors) {
    const auto model = load_model(checkpoint, with_factors(checkpoint, factors, trained.original_length));
    return evaluate_cell(*model, *store, *tokenizer, plan, cell).nll;
  };
  Progress progress(progress_style(command.output.quiet));
  const auto show = [&](Index tried, Index total, double best) {
    if (!progress.due()) return;
    progress.show(fmt::format("{} of {} lists, best {:.4f} nats/token", tried, total, best));
  };
  FactorSearch search = command.search;
  search.extension = static_cast<double>(target) / trained.original_length;
  FactorSearchResult result;
  try {
    result = search_factors(
        search, factor_starts(trained.pairs, trained.base, trained.original_length, target), loss, show);
  } catch (const Stopped&) {
    progress.finish();
    tell_stopped("longrope", "a search that has not ended leaves nothing, the same command begins it anew");
    throw;
  }
  progress.finish();
  require<NumericError>(std::isfinite(result.best.loss),
                        "longrope: the loss in contexts of {} is no number, whatever the factors; look at "
                        "the model with tapeline inspect --verify",
                        target);

  const std::string toml = factors_fragment(checkpoint, target, result, trained.original_length);
  if (!command.out.empty()) write_file(command.out, toml);
  if (command.output.json) {
    nlohmann::ordered_json json{{"checkpoint", checkpoint.path().string()},
                                {"target", target},
                                {"original_length", trained.original_length},
                                {"text", store->source()},
                                {"targets", plan.scored.tokens()},
                                {"tried", result.tried},
                                {"seed", search.seed}};
    for (const FactorList& start : result.starts) json["starts"][start.name] = start.loss;
    json["best_by_round"] = result.best_by_round;
    json["nll"] = result.best.loss;
    json["long_factors"] = result.best.factors;
    write_output(printed_json(json));
    return exit_code::done;
  }
  write_output(fmt::format(
      "{}: {} of {} tried in contexts of {}, {} times the trained length; text {}, {}\n\n{}\n",
      checkpoint.path().string(), counted(result.tried, "list"), counted(trained.pairs, "factor"), target,
      search.extension, store->source(), counted(plan.scored.tokens(), "target"), factors_table(result)));
  write_output(command.out.empty() ? toml : fmt::format("the factors stand in {}\n", command.out));
  return exit_code::done;
}

}  // namespace

Command longrope_command() {
  const auto options = std::make_shared<LongropeCommand>();
  Command command{.name = "longrope",
                  .description = "factors for rope's frequencies in long contexts, searched by loss",
                  .examples = {"tapeline longrope runs/train-toy --target 4x --out factors.toml",
                               "tapeline evaluate runs/train-toy --lengths 4x --positional factors.toml"},
                  .run = [options] { return longrope(*options); },
                  .computes = true};
  command.options = {
      checkpoint_word(options->checkpoint),
      {.name = "--target",
       .value = "T",
       .help = "the length of the contexts: tokens, or a multiple of the trained length (4x)",
       .target = &options->target,
       .required = true},
      {.name = "--text",
       .value = "PATH",
       .help =
           "the text to search on; default: what it was trained on, without the validation and test blocks",
       .target = &options->text,
       .path = Option::Path::file},
      {.name = "--tokens",
       .value = "N",
       .help = "about how many targets each list is tried on; default 8192",
       .target = &options->tokens},
      {.name = "--rounds",
       .value = "N",
       .help = "rounds of the evolution behind the first population; default 10",
       .target = &options->search.rounds},
      {.name = "--population",
       .value = "N",
       .help = "lists alive at once; default 64",
       .target = &options->search.population},
      {.name = "--seed",
       .value = "N",
       .help = "another seed, another search; default 0",
       .target = &options->search.seed},
      {.name = "--out",
       .value = "FILE",
       .help = "write the factors there, as TOML; default: to standard output",
       .target = &options->out,
       .path = Option::Path::file},
      {.name = "--threads",
       .value = "N",
       .help = "threads to use; default: as trained",
       .target = &options->threads},
  };
  command.details = {
      "LongRoPE divides each frequency of rope by a factor of its own (Ding et al. 2024). The search is an "
      "evolution over lists of factors that never fall: it begins with no scaling, position interpolation, "
      "NTK, YaRN and NTK by parts, and changes and crosses the best half each round. A list is judged by its "
      "loss in windows of the target length, with the temperature that LongRoPE has there.",
      "The result is a piece of configuration for --positional of evaluate and generate, or for a CONFIG of "
      "train --from. The same seed gives the same factors."};
  options->output.add_to(command);
  return command;
}

}  // namespace tapeline
