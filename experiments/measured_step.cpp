#include "experiments/measured_step.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "core/memory.h"
#include "core/random.h"
#include "train/config_derived.h"
#include "train/flops.h"
#include "train/optimizer.h"
#include "train/signals.h"
#include "train/train_step.h"

namespace tapeline {

double least_step_bytes(const Config& config) {
  const StepShape shape = step_shape(config.train);
  const double matrix_parameters = token_flops(config.model, config.data.vocabulary, shape.length).linear / 2;
  const double rows = static_cast<double>(shape.micro_batch * shape.length);
  return sizeof(Real) *
         (4 * matrix_parameters + 12 * rows * static_cast<double>(config.model.layers * config.model.width));
}

std::optional<MeasuredStep> measure_step(const Config& config, double seconds) {
  const StepShape shape = step_shape(config.train);
  if (least_step_bytes(config) > usable_memory_bytes()) return std::nullopt;
  Transformer model(model_plan(config));
  TrainStep step(model, shape, config.model.dropout, config.train.seed);
  const auto optimizer = make_optimizer(config.optimizer, model.parameters());
  std::vector<Token> tokens(static_cast<std::size_t>(shape.tokens()));
  const auto vocabulary = static_cast<std::uint64_t>(model.plan().vocabulary);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    tokens[i] = static_cast<Token>(random_below(random_key(0, "dry run"), i, vocabulary));
  }
  MeasuredStep measured;
  double spent = 0;
  for (Index number = 1; number <= 6 && spent < seconds; ++number) {
    const auto start = std::chrono::steady_clock::now();
    step.run(number, tokens, tokens, stop_if_signalled);
    optimizer->update(
        {.rate = 0, .divisor = static_cast<double>(shape.tokens()), .clip = config.optimizer.clip});
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    // The first step takes the memory; of the others the fastest was disturbed least.
    measured.seconds = number <= 2 ? took : std::min(measured.seconds, took);
    if (number >= 2) spent += took;
  }
  measured.parameters = model.parameters().size();
  const double copies = 2 + static_cast<double>(optimizer->slots().size());
  measured.bytes = copies * static_cast<double>(measured.parameters) * sizeof(Real) +
                   static_cast<double>(step.peak_bytes());
  return measured;
}

}  // namespace tapeline
