#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/error.h"
#include "tests/train/evaluation_scene.h"
#include "train/evaluate.h"
#include "train/evaluation_windows.h"

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

using Scene = EvaluationScene;

EvaluationCell plain(Index length) { return plain_windows(length); }

TEST_CASE("evaluate: token-weighted, in every unit") {
  EvaluationResult result;
  result.scored_tokens = 110;
  result.scored_bytes = 110;
  finish_result(result, 100 * 2.0 + 10 * 4.0);
  CHECK(result.perplexity == doctest::Approx(8.862405).epsilon(1e-6));
  result = {};
  result.scored_tokens = 40;
  result.scored_bytes = 130;
  finish_result(result, 120);
  CHECK(result.perplexity == doctest::Approx(20.085537).epsilon(1e-6));
  CHECK(result.bits_per_byte == doctest::Approx(1.331718).epsilon(1e-6));
}

TEST_CASE("evaluate: a large loss is infinite perplexity, no number is diverged, nothing is an error") {
  EvaluationResult result;
  result.scored_tokens = result.scored_bytes = 10;
  finish_result(result, 8000);
  CHECK(result.nll == 800);
  CHECK(std::isinf(result.perplexity));
  CHECK(result.status == "ok");
  finish_result(result, std::numeric_limits<double>::quiet_NaN());
  CHECK(result.status == "diverged");
  result.scored_tokens = 0;
  CHECK_THROWS_AS(finish_result(result, 1), DataError);
}

TEST_CASE("evaluate: a window of more rows than the encoding takes in one pass runs in chunks" *
          test::needs({"xpos"})) {
  const Scene scene("xpos");
  ModelPlan plan = model_plan(scene.config);
  plan.positional.options["xpos"].set("scale_base", std::string("1"));  // 80 rows a pass
  const Transformer model(plan);
  EvaluationOptions small;
  small.chunk = 16;
  const auto nll = [&](const EvaluationOptions& options) {
    return evaluate_cell(model, scene.store, *scene.tokenizer, scene.plan, plain(256), options).nll;
  };
  CHECK(std::isfinite(nll({})));
  CHECK(nll({}) == doctest::Approx(nll(small)).epsilon(1e-5));
}

TEST_CASE("evaluate: a model of zeros has the vocabulary's perplexity") {
  Scene scene(test::any_kind());
  for (Parameter& parameter : scene.model.parameters().parameters()) {
    const Tensor value = parameter.mutable_value();
    std::fill_n(value.data, value.size(), Real{0});
  }
  const EvaluationResult result = scene.run(plain(16));
  CHECK(result.perplexity == doctest::Approx(256.0).epsilon(1e-6));
  CHECK(result.bits_per_byte == doctest::Approx(8.0).epsilon(1e-6));
}

TEST_CASE("evaluate: sliding with stride = length is non-overlapping") {
  for (const std::string& kind : unlimited_kinds()) {
    const Scene scene(kind);
    for (const Index length : {16, 64}) {
      const EvaluationResult one = scene.run(plain(length));
      const EvaluationResult other = scene.run({Protocol::sliding, length, length, false});
      CHECK(other.nll == one.nll);  // to the last digit
      CHECK(other.scored_tokens == one.scored_tokens);
    }
  }
}

TEST_CASE("evaluate: batches and chunks change nothing") {
  for (const std::string& kind : unlimited_kinds()) {
    const Scene scene(kind);
    const EvaluationResult whole = scene.run(plain(256));
    for (const EvaluationOptions& options :
         {EvaluationOptions{.progress = {}, .batch_tokens = 256, .chunk = 1024, .key_limit = 0},
          EvaluationOptions{.progress = {}, .batch_tokens = 768, .chunk = 1024, .key_limit = 0},
          EvaluationOptions{.progress = {}, .batch_tokens = 2048, .chunk = 64, .key_limit = 0},
          EvaluationOptions{.progress = {}, .batch_tokens = 2048, .chunk = 100, .key_limit = 0}}) {
      const EvaluationResult other = scene.run(plain(256), options);
      CHECK(other.scored_tokens == whole.scored_tokens);
      CHECK(other.nll == doctest::Approx(whole.nll).epsilon(1e-5));
      CHECK(other.tail_nll == doctest::Approx(whole.tail_nll).epsilon(1e-5));
      REQUIRE(other.positions.size() == whole.positions.size());
      for (std::size_t i = 0; i < whole.positions.size(); ++i) {
        CHECK(other.positions[i].nll == doctest::Approx(whole.positions[i].nll).epsilon(1e-4));
      }
    }
  }
}

TEST_CASE("evaluate: the same targets at every length, none dropped in silence") {
  const Scene scene(unlimited_kinds().front());
  for (const Index length : {16, 48, 100, 512}) {
    const EvaluationResult result = scene.run(plain(length));
    CHECK(result.scored_tokens == scene.plan.scored.tokens());
    CHECK(result.scored_bytes == result.scored_tokens);
    CHECK((result.short_windows > 0) == (512 % length != 0));
    Index in_bins = 0;
    for (const PositionBin& bin : result.positions) in_bins += bin.tokens;
    CHECK(in_bins == result.scored_tokens);
    Index in_segments = 0;
    for (const SegmentLoss& segment : result.segments) in_segments += segment.tokens;
    CHECK(in_segments == result.scored_tokens);
  }
  CHECK(scene.run({Protocol::sliding, 64, 8, true}).scored_tokens == 512);
}

TEST_CASE("evaluate: position bins single to 16, then by doublings; the tail is the second half") {
  const Scene scene(unlimited_kinds().front());
  const EvaluationResult result = scene.run(plain(64));
  REQUIRE(result.positions.size() == 18);
  CHECK(result.positions[15].first == 16);
  CHECK(result.positions[16].first == 17);
  CHECK(result.positions[16].last == 32);
  CHECK(result.positions[17].first == 33);
  CHECK(result.positions[17].last == 64);
  CHECK(result.tail_nll == doctest::Approx(result.positions[17].nll));
}

TEST_CASE("evaluate: the first L positions of longer windows are those of windows of L") {
  // True of every encoding that does not depend on the length.
  for (const std::string& kind : unlimited_kinds()) {
    const Scene scene(kind);
    EvaluationPlan plan = scene.plan;
    plan.scored.segments = {{0, 513, 64}};  // one window of 64, whose first 16 targets are those of one of 16
    const EvaluationResult longer =
        evaluate_cell(scene.model, scene.store, *scene.tokenizer, plan, plain(64));
    plan.scored.segments = {{0, 513, 16}};
    const EvaluationResult short_one =
        evaluate_cell(scene.model, scene.store, *scene.tokenizer, plan, plain(16));
    double sum = 0;
    for (std::size_t i = 0; i < 16; ++i) sum += longer.positions[i].nll;
    CHECK(sum / 16 == doctest::Approx(short_one.nll).epsilon(1e-4));
  }
}

TEST_CASE("evaluate: learned positions refuse a longer length by name and number, the others go on" *
          test::needs({"learned"})) {
  const Scene scene("learned");
  CHECK(scene.run(plain(16)).status == "ok");
  const EvaluationResult refused = scene.run(plain(17));
  CHECK(refused.status == "refused");
  CHECK(refused.reason == "learned positions end at row 16, length 17 is past them");
  CHECK(refused.scored_tokens == 0);
}

TEST_CASE("evaluate: an untrained model is flat") {
  for (const std::string& kind : unlimited_kinds()) {
    Scene scene(kind);
    scene.model = Transformer(model_plan(scene.config));
    const double at_length = scene.run(plain(16)).nll;
    for (const Index times : {2, 4, 16}) {
      CHECK(std::exp(scene.run(plain(16 * times)).nll - at_length) == doctest::Approx(1).epsilon(0.01));
    }
  }
}

TEST_CASE("evaluate: one weight that is no number is found") {
  Scene scene(test::any_kind());
  scene.model.parameters().parameters().back().mutable_value().data[0] =
      std::numeric_limits<Real>::quiet_NaN();
  const EvaluationResult result = scene.run(plain(16));
  CHECK(result.status == "diverged");
  CHECK_FALSE(result.reason.empty());
}

TEST_CASE("evaluate: no dropout of any kind") {
  ResolvedConfig config = tiny_config();
  std::vector<double> losses;
  for (const double dropout : {0.0, 0.0, 0.5, 0.5}) {
    config.config.model.dropout = dropout;
    Scene scene(test::any_kind());
    const Transformer model(model_plan(config.config));
    losses.push_back(evaluate_cell(model, scene.store, *scene.tokenizer, scene.plan, plain(16)).nll);
  }
  CHECK(std::ranges::count(losses, losses[0]) == 4);
}

TEST_CASE("evaluate: a text shorter than the window is scored as it is") {
  const Scene scene(test::any_kind(), "abcde");
  EvaluationPlan plan;
  plan.scored = scored_all({{0, 5}});
  const EvaluationResult result = evaluate_cell(scene.model, scene.store, *scene.tokenizer, plan, plain(512));
  CHECK(result.scored_tokens == 4);
  CHECK(result.short_windows == 1);
}

TEST_CASE("evaluate: the result on the whole set at a length is neither the subset's nor another length's") {
  std::vector<EvaluationResult> results(4);
  results[0].cell = {Protocol::sliding, 64, 64, true};
  results[1].cell = {Protocol::nonoverlapping, 64, 64, true};
  results[2].cell = plain(128);
  results[3].cell = plain(64);
  CHECK(whole_set_result(results, 64) == &results[3]);
  CHECK(whole_set_result(results, 128) == &results[2]);
  CHECK(whole_set_result(results, 32) == nullptr);
  CHECK(whole_set_result({}, 64) == nullptr);
}

TEST_CASE("evaluation plan: the cells of the configuration") {
  Config config;  // toy: L = 64
  const EvaluationPlan plan = evaluation_plan(config, scored_set({{0, 65536}, {65536, 65536}}, 1024));
  std::vector<std::string> cells;
  for (const EvaluationCell& cell : plan.cells) {
    cells.push_back(fmt::format("{} {} {}", cell.protocol_name(), cell.length, cell.stride));
  }
  const std::vector<std::string> expected{"nonoverlapping 64 64",
                                          "nonoverlapping 128 128",
                                          "nonoverlapping 256 256",
                                          "nonoverlapping 512 512",
                                          "nonoverlapping 1024 1024",
                                          "sliding 64 32",
                                          "sliding 64 1",
                                          "nonoverlapping_subset 64 64",
                                          "sliding 128 32",
                                          "nonoverlapping_subset 128 128",
                                          "sliding 256 32",
                                          "nonoverlapping_subset 256 256",
                                          "sliding 512 32",
                                          "nonoverlapping_subset 512 512"};
  CHECK(cells == expected);
  CHECK(plan.subset.tokens() == 4096);
  config.evaluate.protocols = {"sliding"};
  for (const EvaluationCell& cell : evaluation_plan(config, scored_all({{0, 100000}})).cells) {
    CHECK(cell.protocol == Protocol::sliding);
  }
  CHECK_THROWS_AS(parse_protocol("rolling"), ConfigError);
  config.evaluate.lengths = {"16x", "32x"};
  CHECK_THROWS_WITH_AS(
      evaluation_plan(config, scored_all({{0, 100000}})),
      "evaluate: nothing to measure: sliding windows alone were asked for, and they go up to "
      "512 (evaluate.sliding_up_to), below the shortest length, 1024; allow longer ones "
      "(evaluate --sliding-up-to 1024), or give a shorter length",
      ConfigError);
}

TEST_CASE("evaluation plan: the subset holds the longest sliding window, so that its length is measured") {
  Config config;
  config.train.length = 1024;
  config.evaluate.lengths = {"4x", "8x"};
  const EvaluationPlan plan = evaluation_plan(config, scored_set({{0, 65536}, {65536, 65536}}, 8192));
  CHECK(plan.subset.tokens() == 8192);  // though 4,096 were asked for
  for (const EvaluationCell& cell : plan.cells) {
    if (!cell.subset) continue;
    Index longest = 0;
    for (const EvaluationWindow& window : evaluation_windows(plan.subset, cell))
      longest = std::max(longest, window.inputs);
    CHECK(longest == cell.length);
  }
  config.evaluate.sliding_tokens = 16384;
  CHECK(evaluation_plan(config, scored_set({{0, 65536}, {65536, 65536}}, 8192)).subset.tokens() == 16384);
}

TEST_CASE("evaluation plan: sliding takes its number of targets, however many there are") {
  Config config;
  const ScoredSet blocks = scored_set({{0, 65536}, {65536, 65536}}, 1024);
  for (const std::string scored : {"auto", "all"}) {
    config.evaluate.scored = scored;
    CHECK(evaluation_plan(config, blocks).subset.tokens() == 4096);
    CHECK(evaluation_plan(config, scored_all({{0, 1'000'000}})).subset.tokens() == 4096);
    CHECK(evaluation_plan(config, scored_all({{0, 20}})).subset.tokens() == 19);
  }
  config.evaluate.sliding_tokens = 1'000'000;
  CHECK(evaluation_plan(config, scored_all({{0, 100'000}})).subset.tokens() == 99'999);
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION
