#pragma once

#include <optional>

#include "experiments/bench/step.h"

namespace tapeline {

/// What several threads gain over one.
struct ThreadScaling {
  StepSpeed one, all;
  double speedup = 0;                   ///< a step of one over a step of all: median over neighbours
  std::optional<double> floor_speedup;  ///< of the products alone, by the fastest choice of each

  /// speedup over floor_speedup: 1 where a step gains as much as its products.
  std::optional<double> share() const;
};

/// Trains the same model twice, with one thread and with thread_count(), one repeat of each in turn, and the
/// floor of each beside it. Throws ConfigError where thread_count() is 1.
ThreadScaling measure_scaling(const Config& config, const BenchOptions& options);

}  // namespace tapeline
