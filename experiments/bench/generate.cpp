#include "experiments/bench/generate.h"

#include <chrono>

#include "core/error.h"
#include "core/parallel.h"
#include "experiments/bench/floor.h"
#include "experiments/bench/limits.h"
#include "experiments/bench/made_up.h"
#include "experiments/bench/operations.h"
#include "experiments/median.h"
#include "layers/generate.h"
#include "train/config_derived.h"

namespace tapeline {
namespace {

/// When the first and the last token of one generation were there, in seconds from its beginning.
struct TokenTimes {
  double first = 0, last = 0;
};

TokenTimes timed_generation(const Transformer& model, const std::vector<Token>& prompt, Index tokens) {
  using Clock = std::chrono::steady_clock;
  const Generation request{.tokens = tokens, .sampling = {.temperature = 0.8}};
  const Clock::time_point start = Clock::now();
  TokenTimes times;
  Index made = 0;
  generate(model, prompt, request, [&](Token) {
    times.last = std::chrono::duration<double>(Clock::now() - start).count();
    if (made++ == 0) times.first = times.last;
    return true;
  });
  return times;
}

}  // namespace

GenerationSpeed measure_generation(const Config& config, Index tokens, const BenchOptions& options) {
  Rounds rounds(options);
  const Transformer model(model_plan(config));
  const Index prompt_tokens = config.train.length;
  require_length(model, "bench generate: a prompt of train.length and --tokens", prompt_tokens + tokens);
  require_room(fmt::format("bench generate: a prompt of {} tokens", prompt_tokens),
               made_up_text_bytes(prompt_tokens) + sizeof(Token) * static_cast<double>(prompt_tokens));
  std::vector<Token> prompt(static_cast<std::size_t>(prompt_tokens));
  made_up_text(prompt_tokens, model.plan().vocabulary, config.train.seed).read(0, prompt);
  std::optional<Floor> floor;
  if (options.floor) floor = token_floor(config.model, model.plan().vocabulary);

  std::vector<double> first, each;
  for (Index round = 0; round < options.repeats; ++round) {
    rounds.turn(round, "tokens");
    if (floor) floor->measure();
    const TokenTimes times = timed_generation(model, prompt, tokens);
    first.push_back(times.first);
    each.push_back((times.last - times.first) / static_cast<double>(tokens - 1));
  }
  GenerationSpeed speed;
  speed.threads = thread_count();
  speed.repeats = options.repeats;
  speed.prompt_tokens = prompt_tokens;
  speed.tokens = tokens;
  speed.prompt_seconds = median(first);
  speed.token_seconds = median(each);
  speed.tokens_per_second = 1 / speed.token_seconds;
  // The first token comes out of the prompt's last row; each further one out of the row of the one before.
  speed.gflops = forward_flops(config.model, model.plan().vocabulary, prompt_tokens, tokens - 1,
                               config.positional.keys) /
                 static_cast<double>(tokens - 1) / speed.token_seconds / 1e9;
  if (!floor) return speed;
  speed.floor_seconds = floor->seconds();
  speed.floor_ratio = speed.token_seconds / *speed.floor_seconds;
  return speed;
}

}  // namespace tapeline
