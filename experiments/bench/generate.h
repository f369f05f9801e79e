#pragma once

#include <optional>

#include "experiments/bench/rounds.h"
#include "train/config.h"

namespace tapeline {

/// Tokens made one after another over the key/value cache, as the command generate makes them.
struct GenerationSpeed {
  int threads = 1;
  Index repeats = 0;
  Index prompt_tokens = 0;    ///< train.length
  Index tokens = 0;           ///< made behind it
  double prompt_seconds = 0;  ///< until the first token is there, median
  double token_seconds = 0;   ///< of each one after the first, median over the repeats
  double tokens_per_second = 0;
  double gflops = 0;                    ///< of the tokens after the first
  std::optional<double> floor_seconds;  ///< of a token: every weight read once, see token_floor()
  std::optional<double> floor_ratio;    ///< token over floor
};

/// Makes `tokens` (at least 2) behind a made-up prompt; generation and floor take turns. Throws ConfigError,
/// before anything is timed, where the encoding refuses so many rows.
GenerationSpeed measure_generation(const Config& config, Index tokens, const BenchOptions& options);

}  // namespace tapeline
