#include "experiments/commands/generate.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "data/tokenizer.h"
#include "experiments/commands/common.h"
#include "experiments/commands/positional_changes.h"
#include "experiments/evaluation_output.h"
#include "experiments/exit_code.h"
#include "experiments/output.h"
#include "experiments/utf8_stream.h"
#include "layers/generate.h"
#include "train/checkpoint.h"
#include "train/log.h"
#include "train/run_folder.h"
#include "train/signals.h"

namespace tapeline {
namespace {

struct GenerateOptions {
  std::string checkpoint;
  std::string prompt, threads;
  std::vector<std::string> positional;
  Generation request{.tokens = 256, .sampling = {.temperature = 0.8}};
  OutputOptions output;
};

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

int generate_text(const GenerateOptions& options) {
  options.output.set_up_computing();
  validate(options.request.sampling);
  constexpr Index most_tokens = Index{1} << 30;
  require<ConfigError>(options.request.tokens >= 1 && options.request.tokens <= most_tokens,
                       "--tokens is {}; it must lie between 1 and {}", options.request.tokens, most_tokens);
  const Checkpoint checkpoint(resolve_checkpoint(options.checkpoint));
  ResolvedConfig config = with_positional_changes(checkpoint, options.positional);
  if (!options.threads.empty()) assign(config, {"train.threads", options.threads, "--threads"});
  if (config.config.train.threads > 0) set_thread_count(config.config.train.threads);
  const std::unique_ptr<Transformer> model = load_model(checkpoint, config.config);
  const std::unique_ptr<Tokenizer> tokenizer = checkpoint.make_tokenizer();
  const std::vector<Token> prompt = encode_prompt(*tokenizer, options.prompt);

  const SignalGuard signals;
  const bool stream = !options.output.json;
  Utf8Stream text;
  std::string whole;
  const auto show = [&](const std::string& part) { (stream ? write_output(part) : void(whole += part)); };
  show(text.push(options.prompt));
  whole.clear();  // the prompt has its own field
  const auto start = std::chrono::steady_clock::now();
  const Generated made = generate(*model, prompt, options.request, [&](Token token) {
    show(text.push(tokenizer->decode({token})));
    return pending_signal() == 0;
  });
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  show(text.finish());
  if (stream) write_output("\n");
  const double speed = static_cast<double>(made.tokens.size()) / elapsed.count();
  if (options.output.json) {
    const Sampling& sampling = options.request.sampling;
    write_output(
        printed_json({{"checkpoint", checkpoint.path().string()},
                      {"step", checkpoint.record().step},
                      {"positional_changes", changes_json(positional_differences(checkpoint, config.config))},
                      {"prompt", valid_utf8(options.prompt)},
                      {"text", whole},
                      {"tokens", made.tokens},
                      {"temperature", sampling.temperature},
                      {"top_k", sampling.top_k},
                      {"top_p", sampling.top_p},
                      {"seed", sampling.seed},
                      {"window_slides", made.slides},
                      {"tokens_per_second", speed}}));
  }
  if (made.slides > 0) {
    spdlog::warn(
        "{} positions end at row {}: the window was begun anew {} time{}, and what stood before it forgotten",
        model->limited_by(), model->max_length().value_or(0), made.slides, made.slides == 1 ? "" : "s");
  }
  spdlog::debug("{} tokens, {:.0f} tokens/s", made.tokens.size(), speed);
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
                  .run = [options] { return generate_text(*options); },
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
      {.name = "--threads",
       .value = "N",
       .help = "threads to use; default: as trained",
       .target = &options->threads},
  };
  command.details = {
      "Writes the prompt and what follows it, token by token as they are made. The same seed gives the same "
      "text. Scalings that depend on the length take prompt and tokens asked for together."};
  options->output.add_to(command);
  return command;
}

}  // namespace tapeline
