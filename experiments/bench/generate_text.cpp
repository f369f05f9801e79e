#include "experiments/bench/generate_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "experiments/bench/text.h"
#include "experiments/output.h"
#include "train/progress.h"

namespace tapeline {

std::string generation_json(const GenerationSpeed& speed) {
  return printed_json({{"threads", speed.threads},
                       {"repeats", speed.repeats},
                       {"prompt_tokens", speed.prompt_tokens},
                       {"tokens", speed.tokens},
                       {"prompt_seconds", speed.prompt_seconds},
                       {"token_seconds", speed.token_seconds},
                       {"tokens_per_second", speed.tokens_per_second},
                       {"gflops", speed.gflops},
                       {"floor_seconds", number_or_null(speed.floor_seconds)},
                       {"floor_ratio", number_or_null(speed.floor_ratio)}});
}

std::string generation_text(const GenerationSpeed& speed, std::size_t width) {
  Table table;
  table.column("generation over the key/value cache", Table::Align::left).column("", Table::Align::left);
  table.row(
      {"a token", fmt::format("{:.3f} ms, {} of them behind a prompt of {}, median of {}",
                              1e3 * speed.token_seconds, speed.tokens, speed.prompt_tokens, speed.repeats)});
  table.row({"speed", fmt::format("{} tokens/s, {:.2f} GFLOP/s, {}", short_number(speed.tokens_per_second),
                                  speed.gflops, threads_text(speed.threads))});
  table.row({"until the first token", fmt::format("{:.3f} ms", 1e3 * speed.prompt_seconds)});
  if (speed.floor_seconds) {
    table.row({"floor", fmt::format("{:.3f} ms: one row through every weight", 1e3 * *speed.floor_seconds)});
    table.row({"token / floor", ratio_text(speed.floor_ratio)});
  }
  return table.text(width);
}

}  // namespace tapeline
