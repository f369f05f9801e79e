#pragma once

#include <vector>

#include "experiments/bench/product_times.h"
#include "experiments/bench/rounds.h"
#include "train/config.h"

namespace tapeline {

/// The products of linear layers and head of one training step, by every library and split, and what the
/// shipped rule choose_gemm() makes of them.
struct GemmSpeed {
  int threads = 1;
  Index repeats = 0;
  std::vector<ProductTimes::Line> products;
  double rule_seconds = 0;     ///< of a step's products, as the rule takes them
  double fastest_seconds = 0;  ///< of the same, each by its fastest choice
  double rule_loss() const { return rule_seconds / fastest_seconds - 1; }
};

GemmSpeed measure_gemm(const Config& config, const BenchOptions& options);

}  // namespace tapeline
