#pragma once

#include <optional>
#include <vector>

#include "experiments/bench/rounds.h"
#include "train/config.h"

namespace tapeline {

/// One window without gradients, as the command evaluate runs it.
struct WindowSpeed {
  Index length = 0;
  double seconds = 0;  ///< median
  double tokens_per_second = 0;
  double gflops = 0;                    ///< products only, of attention the pairs that are seen
  std::optional<double> floor_seconds;  ///< of the products alone; see window_floor()
  std::optional<double> floor_ratio;    ///< window over floor
  double peak_bytes = 0;                ///< weights, key/value cache, and the activations at their highest
};

struct EvaluationSpeed {
  int threads = 1;
  Index repeats = 0;
  std::vector<WindowSpeed> lengths;
};

/// Evaluates one window of each length on made-up tokens; all lengths and their floors take turns. Throws
/// ConfigError, before anything is timed, for a length that the encoding refuses or this machine's memory
/// does not hold.
EvaluationSpeed measure_evaluation(const Config& config, const std::vector<Index>& lengths,
                                   const BenchOptions& options);

}  // namespace tapeline
