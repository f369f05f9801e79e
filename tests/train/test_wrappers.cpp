#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/error.h"
#include "tests/train/tiny.h"
#include "train/checkpoint.h"
#include "train/evaluate.h"
#include "train/optimizer.h"
#include "train/train_step.h"

/// What goes around any encoding ([positional.score], .randomized, .layers) in checkpoints, training steps
/// and evaluations.
namespace tapeline {
namespace {

/// "rope, none": two kinds of this build, or one twice.
std::vector<std::string> two_built_kinds() { return {test::any_kind(), std::string(built_kinds().front())}; }

/// tiny_config() with keys of [positional], one a line: "score.scale=logn".
ResolvedConfig tiny_with(const std::string& text) {
  ResolvedConfig config = tiny_config();
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t line_end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, line_end - begin);
    const std::size_t equals = line.find('=');
    assign(config, {"positional." + line.substr(0, equals), line.substr(equals + 1), "test"});
    begin = line_end + 1;
  }
  return config;
}

/// A model whose weights were moved from where they begin: there attention is nearly uniform.
Transformer moved_model(const Config& config) {
  Transformer model(model_plan(config));
  for (Parameter& parameter : model.parameters().parameters()) {
    const Tensor value = parameter.mutable_value();
    const RandomKey key = random_key(17, parameter.name());
    for (Index i = 0; i < value.size(); ++i) {
      value.data[i] += static_cast<Real>(0.2 * random_normal(key, static_cast<std::uint64_t>(i)));
    }
  }
  return model;
}

EvaluationResult evaluated_cell(const Config& config, Index length, Index batch_tokens = 2048,
                                Index chunk = 1024) {
  const Transformer model = moved_model(config);
  const TinyText text(config);
  const EvaluationPlan plan = evaluation_plan(config, scored_set(text.splits.validation, 64));
  const EvaluationCell cell{Protocol::nonoverlapping, length, length, false};
  return evaluate_cell(model, text.store, *text.tokenizer, plan, cell,
                       {.progress = {}, .batch_tokens = batch_tokens, .chunk = chunk});
}

TEST_CASE("wrappers: a checkpoint brings them back, weights of the score scale among them") {
  const TemporaryFolder folder;
  const std::vector<std::string> kinds = two_built_kinds();
  const ResolvedConfig config = tiny_with(
      "score.scale=ssmax\nrandomized.maximum=96\nrandomized.evaluation=sample\nlayers.pattern=" + kinds[0] +
      "," + kinds[1]);
  Transformer model(model_plan(config.config));
  const std::string name = "blocks/1/attention/positional/score_scale";
  Parameter* scale = model.parameters().find(name);
  REQUIRE(scale != nullptr);
  scale->mutable_value().data[1] = 0.75;
  const auto optimizer = make_optimizer(config.config.optimizer, model.parameters());
  const TinyText text(config.config);
  const TrainingRecord record = fresh_record(text.store, *text.tokenizer);
  save_checkpoint(folder / "a.h5", {model, optimizer.get(), config, record});
  const Checkpoint checkpoint(folder / "a.h5");
  CHECK(config_difference(checkpoint.config().config, config.config).empty());
  const auto same = checkpoint.make_model();
  CHECK(same->parameters().find(name)->value().data[1] == Real{0.75});
  CHECK(same->plan().positional.pattern == kinds);
  // Its weights in a model without the scale: refused by name.
  const ResolvedConfig plain = tiny_with("layers.pattern=" + kinds[0] + "," + kinds[1]);
  Transformer other(model_plan(plain.config));
  CHECK_THROWS_AS(checkpoint.load_weights(other.parameters()), FileError);
}

TEST_CASE("wrappers: a step draws one set of positions however it is cut, another in the next step") {
  const Config config = tiny_with("randomized.maximum=200\nscore.scale=ssmax").config;
  const std::string letters = tiny_text(16 * 8 + 1);
  std::vector<Token> inputs, targets;
  for (std::size_t i = 0; i + 1 < letters.size(); ++i) {
    inputs.push_back(static_cast<unsigned char>(letters[i]));
    targets.push_back(static_cast<unsigned char>(letters[i + 1]));
  }
  const auto sums = [&](Index micro_batch, Index number, std::uint64_t seed) {
    Transformer model = moved_model(config);
    TrainStep step(model, {16, 8, micro_batch}, 0, seed);
    std::vector<double> all = {step.run(number, inputs, targets).total};
    for (const Parameter& parameter : model.parameters().parameters()) {
      const Tensor gradient = parameter.grad();
      all.insert(all.end(), gradient.data, gradient.data + gradient.size());
    }
    return all;
  };
  const std::vector<double> whole = sums(8, 1, 5), cut = sums(2, 1, 5);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    CHECK(std::abs(whole[i] - cut[i]) < 2e-3 * std::max(1.0, std::abs(whole[i])));
  }
  CHECK(sums(8, 1, 5) == whole);
  if (test::any_kind() == "none") return;
  CHECK(std::abs(sums(8, 2, 5)[0] - whole[0]) > 1e-3);
  CHECK(std::abs(sums(8, 1, 6)[0] - whole[0]) > 1e-3);
}

TEST_CASE("wrappers: evaluation in chunks and batches of any size is that of whole windows") {
  const std::vector<std::string> kinds = two_built_kinds();
  const std::string pattern = "\nlayers.pattern=" + kinds[0] + "," + kinds[1];
  for (const char* scale : {"logn", "ssmax", "llama4"}) {
    if (std::string(scale) == "llama4" && kinds[0] != "none" && kinds[1] != "none") continue;
    const Config config =
        tiny_with(fmt::format("score.scale={}\nscore.floor_scale=4\nscore.clip=false\nrandomized.maximum=64\n"
                              "randomized.evaluation=sample\nkeys.window=12{}",
                              scale, pattern))
            .config;
    const EvaluationResult whole = evaluated_cell(config, 64);
    REQUIRE(whole.status == "ok");
    const EvaluationResult chunked = evaluated_cell(config, 64, 2048, 7);
    const EvaluationResult alone = evaluated_cell(config, 64, 64, 1024);
    CHECK(chunked.nll == doctest::Approx(whole.nll).epsilon(1e-5));
    CHECK(alone.nll == doctest::Approx(whole.nll).epsilon(1e-5));
  }
}

TEST_CASE("wrappers: a length past the maximum of the draw is refused by name and number") {
  const Config config = tiny_with("randomized.maximum=40").config;
  const EvaluationResult refused = evaluated_cell(config, 64);
  CHECK(refused.status == "refused");
  const bool table = test::any_kind() == "learned";
  CHECK(refused.reason ==
        fmt::format("{} positions end at row 40, length 64 is past them", table ? "learned" : "randomized"));
  CHECK(evaluated_cell(config, 32).status == "ok");
}

}  // namespace
}  // namespace tapeline
