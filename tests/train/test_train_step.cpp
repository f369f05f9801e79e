#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/allocation_counter.h"
#include "core/error.h"
#include "tests/train/tiny.h"
#include "train/optimizer.h"
#include "train/train_step.h"

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

struct Batch {
  std::vector<Token> inputs, targets;
};

Batch batch_of(const std::string& text, const StepShape& shape) {
  Batch batch;
  for (Index i = 0; i < shape.tokens(); ++i) {
    batch.inputs.push_back(static_cast<unsigned char>(text[static_cast<std::size_t>(i)]));
    batch.targets.push_back(static_cast<unsigned char>(text[static_cast<std::size_t>(i + 1)]));
  }
  return batch;
}

// All weights after `steps` updates on one batch.
std::vector<Real> weights_after(Index micro_batch, double dropout, Index steps) {
  const Config config = tiny_config().config;
  Transformer model(model_plan(config));
  const StepShape shape{16, 8, micro_batch};
  const Batch batch = batch_of(tiny_text(shape.tokens() + 1), shape);
  TrainStep step(model, shape, dropout, 5);
  // A larger epsilon than Adam's own: else it makes full steps of gradients that are rounding errors.
  OptimizerConfig adam = config.optimizer;
  adam.eps = 1e-5;
  const auto optimizer = make_optimizer(adam, model.parameters());
  for (Index i = 1; i <= steps; ++i) {
    const LossSum loss = step.run(i, batch.inputs, batch.targets);
    CHECK(loss.tokens == shape.tokens());
    optimizer->update({.rate = 1e-3, .divisor = static_cast<double>(loss.tokens), .clip = 1});
  }
  std::vector<Real> weights;
  for (const Parameter& parameter : model.parameters().parameters()) {
    const Tensor value = parameter.value();
    weights.insert(weights.end(), value.data, value.data + value.size());
  }
  return weights;
}

double largest_difference(const std::vector<Real>& a, const std::vector<Real>& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    largest = std::max(largest, std::abs(double{a[i]} - double{b[i]}));
  return largest;
}

TEST_CASE("train step: the cut into micro-batches changes nothing, with dropout neither") {
  for (const double dropout : {0.0, 0.2}) {
    const std::vector<Real> whole = weights_after(8, dropout, 5);
    CHECK(largest_difference(whole, weights_after(2, dropout, 5)) < 1e-6);
    CHECK(largest_difference(whole, weights_after(1, dropout, 5)) < 1e-6);
  }
  CHECK(largest_difference(weights_after(8, 0, 5), weights_after(8, 0.2, 5)) > 1e-4);
}

TEST_CASE("train step: micro-batches of unequal sums weigh as in one batch, none more, none less") {
  Config config = tiny_config().config;
  config.optimizer.weight_decay = 0;
  Transformer model(model_plan(config));
  const StepShape whole{16, 4, 4};
  const auto optimizer = make_optimizer(config.optimizer, model.parameters());
  // It learns "aaaa…"; then windows of that cost next to nothing, and others much.
  const Batch known = batch_of(std::string(65, 'a'), whole);
  TrainStep learning(model, whole, 0, 0);
  for (Index i = 1; i <= 60; ++i) {
    learning.run(i, known.inputs, known.targets);
    optimizer->update({.rate = 1e-2, .divisor = static_cast<double>(whole.tokens()), .clip = 1});
  }
  const Batch mixed = batch_of(std::string(48, 'a') + tiny_text(17), whole);

  // Gradients and summed loss of one step, cut into micro-batches; an update afterwards clears the gradients.
  struct Sums {
    LossSum loss;
    std::vector<double> gradients;
  };
  const auto sums = [&](Index micro_batch, const Batch& batch, Index windows) {
    TrainStep step(model, {16, windows, micro_batch}, 0, 0);
    Sums result;
    result.loss = step.run(1, batch.inputs, batch.targets);
    for (const Parameter& parameter : model.parameters().parameters()) {
      const Tensor gradient = parameter.grad();
      result.gradients.insert(result.gradients.end(), gradient.data, gradient.data + gradient.size());
    }
    optimizer->refuse();
    return result;
  };
  const auto window = [&](std::size_t number) {
    const auto part = [&](const std::vector<Token>& all) {
      const auto from = all.begin() + static_cast<std::ptrdiff_t>(16 * number);
      return std::vector<Token>(from, from + 16);
    };
    return Batch{part(mixed.inputs), part(mixed.targets)};
  };
  const Sums one = sums(4, mixed, 4);
  CHECK(one.loss.tokens == 64);
  std::vector<double> added(one.gradients.size());
  double total = 0;
  for (std::size_t number = 0; number < 4; ++number) {
    const Sums alone = sums(1, window(number), 1);
    if (number == 0) REQUIRE(alone.loss.mean() < 0.2 * one.loss.mean());
    total += alone.loss.total;
    for (std::size_t i = 0; i < added.size(); ++i) added[i] += alone.gradients[i];
  }
  double norm = 0;
  for (const double gradient : one.gradients) norm += gradient * gradient;
  norm = std::sqrt(norm);
  REQUIRE(norm > 1);
  CHECK(one.loss.total == doctest::Approx(total).epsilon(1e-5));
  for (const Sums& cut : {Sums{{total, 64}, added}, sums(2, mixed, 4), sums(1, mixed, 4)}) {
    CHECK(cut.loss.tokens == 64);
    CHECK(cut.loss.mean() == doctest::Approx(one.loss.mean()).epsilon(1e-5));
    double largest = 0;
    for (std::size_t i = 0; i < added.size(); ++i)
      largest = std::max(largest, std::abs(cut.gradients[i] - one.gradients[i]));
    CHECK(largest < 1e-5 * norm);
  }
}

TEST_CASE("train step: overfits one batch") {
  Config config = tiny_config().config;
  config.model.width = 32;
  config.optimizer.weight_decay = 0;
  Transformer model(model_plan(config));
  const StepShape shape{16, 4, 4};
  std::string text;  // every window begins with a token of its own, so everything can be known
  for (Index i = 0; i <= shape.tokens(); ++i) text += static_cast<char>((i * 37 + i * i) % 251);
  const Batch batch = batch_of(text, shape);
  TrainStep step(model, shape, 0, 0);
  const auto optimizer = make_optimizer(config.optimizer, model.parameters());
  double loss = 0;
  for (Index i = 1; i <= 400 && (i == 1 || loss >= 0.01); ++i) {
    loss = step.run(i, batch.inputs, batch.targets).mean();
    optimizer->update({.rate = 1e-2, .divisor = static_cast<double>(shape.tokens()), .clip = 1});
  }
  CHECK(loss < 0.01);
}

TEST_CASE("train step: every row of a window trains, the last position too" * test::needs({"learned"})) {
  Config config = tiny_config("learned").config;
  Transformer model(model_plan(config));
  const StepShape shape{16, 2, 2};
  const Batch batch = batch_of(tiny_text(shape.tokens() + 1), shape);
  TrainStep step(model, shape, 0, 0);
  step.run(1, batch.inputs, batch.targets);
  const Parameter* table = nullptr;
  for (const Parameter& parameter : model.parameters().parameters()) {
    if (parameter.name().starts_with("positional/learned/")) table = &parameter;
  }
  REQUIRE(table != nullptr);
  REQUIRE(table->shape() == Shape{16, 16});
  for (Index row = 0; row < 16; ++row) {
    double sum = 0;
    for (Index c = 0; c < 16; ++c) sum += std::abs(double{table->grad().data[row * 16 + c]});
    CHECK(sum > 0);
  }
}

TEST_CASE("train step: memory of our own is taken in the first step only") {
  if (!AllocationCounter::available()) {
    MESSAGE("not counted in this build: malloc belongs to the sanitizer or the C library");
    return;
  }
  const Config config = tiny_config().config;
  Transformer model(model_plan(config));
  const StepShape shape{16, 8, 4};
  const Batch batch = batch_of(tiny_text(shape.tokens() + 1), shape);
  TrainStep step(model, shape, 0.1, 0);
  const auto optimizer = make_optimizer(config.optimizer, model.parameters());
  const auto once = [&](Index number) {
    step.run(number, batch.inputs, batch.targets);
    optimizer->update({.rate = 1e-3, .divisor = static_cast<double>(shape.tokens()), .clip = 1});
  };
  const auto counted = [&](Index number) {
    const AllocationCounter counter;
    once(number);
    return counter.counts();
  };
  CHECK(counted(1).own > 0);  // the counter counts
  once(2);
  for (Index number = 3; number < 6; ++number) CHECK(counted(number).own == 0);
}

TEST_CASE("train step: sizes that do not fit together are refused with the numbers") {
  TrainConfig config;
  config.length = 64;
  config.tokens_per_step = 100;
  CHECK_THROWS_AS(step_shape(config), ConfigError);
  config.tokens_per_step = 640;
  config.micro_batch = 4;
  CHECK_THROWS_WITH_AS(
      step_shape(config),
      "train.micro_batch is 4; it must divide the 10 windows of a step (tokens_per_step 640 / "
      "length 64)",
      ConfigError);
  config.micro_batch = 0;
  CHECK(step_shape(config).micro_batch == 10);
  config.tokens_per_step = 64 * 192;
  CHECK(step_shape(config).micro_batch == 64);  // 4,096 tokens at once
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION
