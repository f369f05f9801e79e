#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "data/window_sampler.h"
#include "tests/support/plain_adamw.h"
#include "tests/train/tiny.h"
#include "train/log.h"

/// A training run beside the same run in plain loops (tests/support/plain_*): the same first weights, the
/// same windows, everything else computed apart, in double.
namespace tapeline::inline TAPELINE_PRECISION {
namespace {

constexpr Index steps = 50, windows = 3, length = 12;

/// 2 layers, 2 heads, width 16; clipped in some steps and not in others.
ResolvedConfig twin_config(const std::string& kind) {
  ResolvedConfig config = tiny_config(kind);
  config.config.model.activation = "gelu";
  config.config.model.norm = "layer";
  config.config.train.length = length;
  config.config.train.tokens_per_step = windows * length;
  config.config.train.steps = steps;
  config.config.train.seed = 5;
  config.config.optimizer = {.kind = "adamw",
                             .lr = 1e-2,
                             .betas = {0.9, 0.99},
                             .momentum = 0,
                             .eps = 1e-8,
                             .weight_decay = 0.1,
                             .clip = 1.25};
  config.config.schedule = {
      .kind = "cosine", .warmup = 0.1, .floor = 0.1, .decay = 0, .decay_shape = "linear"};
  config.config.evaluate.lengths = {"1x"};
  return config;
}

/// A text of 15 different letters, and its tokens.
struct Letters {
  explicit Letters(Config& config) {
    const std::string text = tiny_text(16384);
    const std::set<std::int32_t> letters(text.begin(), text.end());
    tokenizer = make_tokenizer("chars", std::vector<std::int32_t>(letters.begin(), letters.end()));
    config.data.tokenizer = "chars";
    config.data.vocabulary = tokenizer->size();
    store.emplace(TokenStore::from_text(text, *tokenizer, "letters"));
    splits = configured_splits(config, store->size());
  }

  std::unique_ptr<Tokenizer> tokenizer;
  std::optional<TokenStore> store;
  Splits splits;
};

/// The loss of every step, in nats a token, of the run that is tested.
std::vector<double> trained_losses(const ResolvedConfig& config, const Letters& text) {
  spdlog::set_level(spdlog::level::off);
  const TemporaryFolder folder;
  std::vector<double> losses;
  TrainOptions options;
  options.folder = folder / "run";
  options.gemm_gflops = 1;
  options.after_step = [&](const StepDone& done) { losses.push_back(done.loss); };
  train_model(config, {*text.store, *text.tokenizer, text.splits}, options);
  return losses;
}

/// The weights that a run of this configuration starts from.
plain::Parameters first_weights(const Config& config) {
  const Transformer model(model_plan(config));
  plain::Parameters weights;
  for (const Parameter& parameter : model.parameters().parameters()) {
    const Tensor value = parameter.value();
    weights[parameter.name()].value.assign(value.data, value.data + value.size());
  }
  return weights;
}

/// One number a step: the loss in nats a token, the norm of the gradient before clipping.
struct TwinRun {
  std::vector<double> losses, gradient_norms;
};

TwinRun run_twin(const Config& config, const Letters& text) {
  const OptimizerConfig& optimizer = config.optimizer;
  plain::Transformer model(2, 2, config.positional.kind, first_weights(config));
  plain::AdamW adamw{.beta_1 = optimizer.betas[0],
                     .beta_2 = optimizer.betas[1],
                     .epsilon = optimizer.eps,
                     .decay = optimizer.weight_decay,
                     .clip = optimizer.clip};
  WindowSampler sampler(*text.store, text.splits.train, length, config.train.seed);
  std::vector<Token> inputs(windows * length), targets(inputs.size());
  TwinRun run;
  for (int step = 1; step <= steps; ++step) {
    sampler.next(windows, inputs, targets);
    double total = 0;
    for (std::size_t begin = 0; begin < inputs.size(); begin += length) {
      total +=
          model.learn(std::span(inputs).subspan(begin, length), std::span(targets).subspan(begin, length));
    }
    run.losses.push_back(total / (windows * length));
    const double rate = plain::cosine_rate(step, 5, steps, optimizer.lr, config.schedule.floor);
    run.gradient_norms.push_back(adamw.update(model.parameters(), rate, windows * length));
  }
  return run;
}

void check_agreement(const std::string& kind) {
  ResolvedConfig config = twin_config(kind);
  const Letters text(config.config);
  const TwinRun twin = run_twin(config.config, text);
  CHECK(twin.losses.front() - twin.losses.back() > 1);  // it learns
  const auto clipped = std::ranges::count_if(
      twin.gradient_norms, [&](double norm) { return norm > config.config.optimizer.clip; });
  CHECK(clipped > 10);
  CHECK(clipped < steps - 10);
  for (const Index at_once : {windows, Index{1}}) {
    CAPTURE(at_once);
    config.config.train.micro_batch = at_once;
    const std::vector<double> losses = trained_losses(config, text);
    REQUIRE(losses.size() == steps);
    for (std::size_t i = 0; i < steps; ++i) {
      REQUIRE_MESSAGE(std::abs(losses[i] - twin.losses[i]) <= 1e-4, "step ", i + 1, ": ", losses[i],
                      ", the twin's ", twin.losses[i]);
    }
  }
}

TEST_CASE("plain twin: the losses of 50 steps agree, without positions" * test::needs({"none"})) {
  check_agreement("none");
}

TEST_CASE("plain twin: the losses of 50 steps agree, learned" * test::needs({"learned"})) {
  check_agreement("learned");
}

TEST_CASE("plain twin: the losses of 50 steps agree, alibi" * test::needs({"alibi"})) {
  check_agreement("alibi");
}

TEST_CASE("plain twin: the losses of 50 steps agree, rope" * test::needs({"rope"})) {
  check_agreement("rope");
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION
