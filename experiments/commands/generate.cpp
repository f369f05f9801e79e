#include "experiments/commands/generate.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/counted.h"
#include "core/error.h"
#include "core/parallel.h"
#include "data/tokenizer.h"
#include "experiments/commands/common.h"
#include "experiments/commands/positional_changes.h"
#include "experiments/continuation.h"
#include "experiments/evaluation_output.h"
#include "experiments/exit_code.h"
#include "experiments/inspect/drawing.h"
#include "experiments/output.h"
#include "experiments/table.h"
#include "experiments/utf8_stream.h"
#include "experiments/visible_text.h"
#include "layers/generate.h"
#include "layers/positional/registry.h"
#include "train/checkpoint.h"
#include "train/config_text.h"
#include "train/log.h"
#include "train/progress.h"
#include "train/run_folder.h"
#include "train/signals.h"

namespace tapeline {
namespace {

using Clock = std::chrono::steady_clock;

struct GenerateOptions {
  std::string checkpoint;
  std::string prompt, threads;
  std::vector<std::string> positional;
  Generation request{.tokens = 256, .sampling = {.temperature = 0.8}};
  Index samples = 1;
  std::vector<std::string> stops;
  bool stats = false;
  OutputOptions output;
};

/// How fast it went, between the beginning and the times at which tokens were there.
struct Speed {
  Index prompt_tokens = 0, tokens = 0;
  Index of_first_step = 0;  ///< tokens: those that came out of the prompt
  Clock::time_point begin = Clock::now(), first = begin, last = begin;

  void note_token(bool is_first) {
    last = Clock::now();
    if (is_first) {
      first = last;
      ++of_first_step;
    }
    ++tokens;
  }
  static double rate(Index tokens, Clock::duration duration) {
    const double seconds = std::chrono::duration<double>(duration).count();
    return seconds > 0 ? static_cast<double>(tokens) / seconds : 0;
  }
  double prompt_rate() const { return rate(prompt_tokens, first - begin); }
  /// Of the tokens that did not come out of the prompt; 0: there was none.
  double token_rate() const { return rate(tokens - of_first_step, last - first); }
  double whole_rate() const { return rate(tokens, last - begin); }
};

std::string stats_text(const Speed& speed, const GeneratedTexts& made) {
  Table table;
  table.column("generate", Table::Align::left).column("", Table::Align::left);
  table.row(
      {"prompt", fmt::format("{}, {} tokens/s up to the first new one", counted(speed.prompt_tokens, "token"),
                             short_number(speed.prompt_rate()))});
  table.row({"text", speed.token_rate() > 0
                         ? fmt::format("{}, {} tokens/s after the first", counted(speed.tokens, "token"),
                                       short_number(speed.token_rate()))
                         : counted(speed.tokens, "token")});
  table.row({"cache", size_text(static_cast<Index>(made.cache_bytes))});
  table.row({"window", made.slides == 0 ? "never begun anew" : "begun anew " + counted(made.slides, "time")});
  return table.text();
}

/// Says what became of a text that is longer than those the model was trained on.
void tell_length(const Transformer& model, const Config& config, Index length, Index slides) {
  const ModelPlan& plan = model.plan();
  if (slides > 0) {
    spdlog::warn(
        "{} positions end at row {}: the window was begun anew {}, and what stood before it forgotten",
        model.limited_by(), model.max_length().value_or(0), counted(slides, "time"));
  } else if (length > plan.train_length) {
    // What an encoding does by itself is no longer said where its settings are others.
    if (const std::string settings = positional_changes(config); !settings.empty()) {
      spdlog::info("{} tokens, trained length {}: {} positions with {}", length, plan.train_length,
                   plan.positional.name(), settings);
      return;
    }
    for (const std::string& kind : plan.positional.kinds()) {
      spdlog::info("{} tokens, trained length {}: past it {} {}", length, plan.train_length, kind,
                   encoding_kind(kind).beyond);
    }
  }
}

// A prompt that the model cannot read is a wrong command line.
std::vector<Token> encode_prompt(const Tokenizer& tokenizer, const std::string& prompt) {
  std::vector<Token> tokens;
  try {
    tokens = tokenizer.encode(prompt);
  } catch (const DataError& error) {
    fail<ConfigError>("--prompt: {}", error.what());
  }
  require<ConfigError>(!tokens.empty(), "--prompt holds no character; give at least one to go on from");
  return tokens;
}

/// The first text stands in fields of its own too, as where there is no other.
nlohmann::ordered_json generation_json(const GenerateOptions& options, const Checkpoint& checkpoint,
                                       const Config& config, const std::vector<Continuation>& texts,
                                       const GeneratedTexts& made, const Speed& speed) {
  const auto stopped_by = [&texts](std::size_t text) {
    const std::string& stop = texts[text].stopped_by();
    return stop.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(valid_utf8(stop));
  };
  auto samples = nlohmann::ordered_json::array();
  for (std::size_t text = 0; text < texts.size(); ++text) {
    samples.push_back(
        {{"text", texts[text].text()}, {"tokens", made.texts[text]}, {"stopped_by", stopped_by(text)}});
  }
  const Sampling& sampling = options.request.sampling;
  return {{"checkpoint", checkpoint.path().string()},
          {"step", checkpoint.record().step},
          {"positional_changes", changes_json(positional_differences(checkpoint, config))},
          {"prompt", valid_utf8(options.prompt)},
          {"text", texts.front().text()},
          {"tokens", made.texts.front()},
          {"stopped_by", stopped_by(0)},
          {"samples", samples},
          {"temperature", sampling.temperature},
          {"top_k", sampling.top_k},
          {"top_p", sampling.top_p},
          {"seed", sampling.seed},
          {"window_slides", made.slides},
          {"cache_bytes", made.cache_bytes},
          {"prompt_tokens", speed.prompt_tokens},
          {"prompt_tokens_per_second", speed.prompt_rate()},
          {"generation_tokens_per_second", speed.token_rate()},
          {"tokens_per_second", speed.whole_rate()}};
}

int generate_text(const GenerateOptions& options) {
  options.output.set_up_computing();
  validate(options.request.sampling);
  constexpr Index most_tokens = Index{1} << 30;
  require<ConfigError>(options.request.tokens >= 1 && options.request.tokens <= most_tokens,
                       "--tokens is {}; it must lie between 1 and {}", options.request.tokens, most_tokens);
  constexpr Index most_samples = 1024;
  require<ConfigError>(options.samples >= 1 && options.samples <= most_samples,
                       "--samples is {}; it must lie between 1 and {}", options.samples, most_samples);
  const Checkpoint checkpoint(resolve_checkpoint(options.checkpoint));
  ResolvedConfig config = with_positional_changes(checkpoint, options.positional);
  if (!options.threads.empty()) assign(config, {"train.threads", options.threads, "--threads"});
  if (config.config.train.threads > 0) set_thread_count(config.config.train.threads);
  const std::unique_ptr<Transformer> model = load_model(checkpoint, config.config);
  const std::unique_ptr<Tokenizer> tokenizer = checkpoint.make_tokenizer();
  const std::vector<Token> prompt = encode_prompt(*tokenizer, options.prompt);

  const SignalGuard signals;
  std::vector<Continuation> texts(static_cast<std::size_t>(options.samples),
                                  Continuation(options.prompt, options.stops));
  // One text can be shown as it comes, the others when they are whole.
  const bool stream = !options.output.json;
  const bool obeys = ::isatty(STDOUT_FILENO) == 1;  // a terminal does what control characters say
  const auto write = [&](const std::string& text) { write_output(obeys ? visible_text(text) : text); };
  const auto show = [&](Index text, const std::string& part) {
    if (stream && text == 0) write(part);
  };
  const auto heading = [&](Index text) {
    return options.samples > 1 ? fmt::format("--- sample {} ---\n", text) : std::string();
  };
  show(0, heading(0) + texts.front().prompt());
  Generation request = options.request;
  request.after_chunk = [] { stop_if_signalled(); };
  Speed speed{.prompt_tokens = static_cast<Index>(prompt.size())};
  std::vector<bool> begun(texts.size(), false);
  const GeneratedTexts made =
      generate_texts(*model, prompt, request, options.samples, [&](Index number, Token token) {
        const auto place = static_cast<std::size_t>(number);
        speed.note_token(!begun[place]);
        begun[place] = true;
        show(number, texts[place].push(tokenizer->decode({token})));
        return texts[place].stopped_by().empty() && pending_signal() == 0;
      });
  for (Index number = 0; number < options.samples; ++number) {
    Continuation& text = texts[static_cast<std::size_t>(number)];
    show(number, text.finish());
    if (stream && number > 0) write(heading(number) + text.prompt() + text.text());
    if (stream) write_output("\n");
  }
  if (options.output.json) {
    write_output(printed_json(generation_json(options, checkpoint, config.config, texts, made, speed)));
  }
  if (options.stats) write_note(stats_text(speed, made));
  std::size_t longest = 0;
  for (const std::vector<Token>& text : made.texts) longest = std::max(longest, text.size());
  tell_length(*model, config.config, static_cast<Index>(prompt.size() + longest), made.slides);
  stop_if_signalled();
  return exit_code::done;
}

}  // namespace

Command generate_command() {
  const auto options = std::make_shared<GenerateOptions>();
  Sampling& sampling = options->request.sampling;
  Command command{.name = "generate",
                  .description = "text that goes on from a prompt, by a trained model",
                  .examples = {"tapeline generate runs/train-toy --prompt \"In the beginning\" --seed 7"},
                  .run =
                      [options] {
                        try {
                          return generate_text(*options);
                        } catch (const Stopped&) {
                          tell_stopped("generate", "what was made before is printed, the rest is not made");
                          throw;
                        }
                      },
                  .computes = true};
  command.options = {
      checkpoint_word(options->checkpoint),
      {.name = "--prompt",
       .value = "TEXT",
       .help = "the text to go on from",
       .target = &options->prompt,
       .required = true},
      {.name = "--tokens",
       .value = "N",
       .help = "how many tokens to make; default 256",
       .target = &options->request.tokens},
      {.name = "--temperature",
       .value = "X",
       .help = "logits are divided by it; 0: always the likeliest token; default 0.8",
       .target = &sampling.temperature},
      {.name = "--top-k",
       .value = "K",
       .help = "choose among the K likeliest only; default 0: all",
       .target = &sampling.top_k},
      {.name = "--top-p",
       .value = "P",
       .help = "choose among the fewest likeliest whose probabilities reach P; default 1: all",
       .target = &sampling.top_p},
      {.name = "--seed",
       .value = "N",
       .help = "another seed, another text; default 0",
       .target = &sampling.seed},
      positional_option(options->positional),
      {.name = "--samples",
       .value = "N",
       .help = "how many texts to make, in one batch; each has draws of its own; default 1",
       .target = &options->samples},
      {.name = "--stop",
       .value = "TEXT",
       .help = "end before this text where it comes; may be given several times",
       .target = &options->stops},
      {.name = "--stats",
       .help = "tell speed, memory of the cache and window on standard error",
       .target = &options->stats},
      {.name = "--threads",
       .value = "N",
       .help = "threads to use; default: as trained",
       .target = &options->threads},
  };
  command.details = {
      "Writes the prompt and what follows it, token by token as they are made. On a terminal control "
      "characters, which it would obey, are shown as \\u{1b}; a pipe or a file gets them as they are. The "
      "same seed gives the same text. Scalings that depend on the length take prompt and tokens asked for "
      "together.",
      "With --samples the first text is shown as it is made, and is the one that a single sample would be "
      "(but for rounding, which is another in a larger batch); the others follow it, each under a line of "
      "its own. They share one batch.",
      "Past the trained length it depends on the positional encoding what happens, and is told once at the "
      "end, on standard error. An encoding without a limit goes on. One that ends at a row begins a new "
      "window with the last half of its rows, and forgets what stood before."};
  options->output.add_to(command);
  return command;
}

}  // namespace tapeline
