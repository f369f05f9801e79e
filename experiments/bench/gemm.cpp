#include "experiments/bench/gemm.h"

#include "core/parallel.h"
#include "experiments/bench/floor.h"
#include "train/config_derived.h"

namespace tapeline {

GemmSpeed measure_gemm(const Config& config, const BenchOptions& options) {
  Rounds rounds(options);
  ProductTimes products =
      step_products(config.model, model_plan(config).vocabulary, step_shape(config.train));
  for (Index round = 0; round < options.repeats; ++round) {
    rounds.turn(round, "products");
    products.measure();
  }
  GemmSpeed speed;
  speed.threads = thread_count();
  speed.repeats = options.repeats;
  speed.products = products.lines();
  for (const ProductTimes::Line& line : speed.products) {
    const auto count = static_cast<double>(line.count);
    speed.rule_seconds += count * line.rule_seconds();
    speed.fastest_seconds += count * line.fastest_seconds();
  }
  return speed;
}

}  // namespace tapeline
