#include <doctest/doctest.h>

#include <cmath>

#include "layers/positional/score_scale.h"
#include "tests/layers/cached_check.h"
#include "tests/layers/golden_attention.h"
#include "tests/layers/refused_plan.h"
#include "tests/support/gradcheck.h"

using namespace tapeline;

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

const char* const score_scales[] = {"logn", "ssmax", "llama4"};

/// A plan whose score scale acts within a few rows.
ModelPlan scaled_plan(const std::string& scale, const std::string& kind = test::any_kind(),
                      Index train_length = 16) {
  ModelPlan plan = tiny_plan(kind, train_length);
  plan.positional.score.scale = scale;
  plan.positional.score.clip = false;
  plan.positional.score.floor_scale = 5;
  plan.positional.score.attention_scale = 0.5;
  return plan;
}

PositionalConfig scaled_config(const std::string& scale, bool clip = true) {
  PositionalConfig config = config_of("none");
  config.score.scale = scale;
  config.score.clip = clip;
  config.score.floor_scale = 4;
  return config;
}

/// The factors of rows [begin, begin + count) in a layer, [Tq] or [H, Tq]; empty: absent.
std::vector<double> factors_of(const PositionalConfig& config, Index begin, Index count, Index layer = 0,
                               Index train_length = 8) {
  ParameterStore store;
  const auto scale =
      make_score_scale(config, {.heads = 3, .layers = 4, .train_length = train_length, .root = store.root()});
  store.allocate(0);
  Arena arena;
  GradientPool pool;
  Tape tape(arena, pool, Recording::off);
  Pass pass(tape);
  PassPositions all;
  all.query = {.begin = begin, .count = count};
  all.key = {.begin = 0, .count = begin + count};
  const Var factors = scale->factors(pass, all, layer);
  return factors ? numbers_of(factors.value()) : std::vector<double>();
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION

TEST_CASE("score scale: golden attention" * test::needs({"none"})) {
  GoldenAttention(scaled_config("logn")).check("logn_clip");
  GoldenAttention(scaled_config("logn", false)).check("logn_noclip");
  GoldenAttention(scaled_config("llama4")).check("llama4_temperature");
  GoldenAttention(scaled_config("ssmax"))
      .check("ssmax", {{"s", "blocks/0/attention/positional/score_scale"}});
}

TEST_CASE("score scale: golden factors") {
  const auto& logn = golden_case("bias", "logn_512");
  const std::vector<Index> rows = golden_indices(logn, "pos");
  const std::vector<double> clipped = golden_numbers(logn, "clip"), plain = golden_numbers(logn, "noclip");
  for (std::size_t n = 0; n < rows.size(); ++n) {
    CHECK(log_length_factor(rows[n] + 1, 512, true) == doctest::Approx(clipped[n]).epsilon(1e-13));
    CHECK(log_length_factor(rows[n] + 1, 512, false) == doctest::Approx(plain[n]).epsilon(1e-13));
  }
  const auto& llama4 = golden_case("bias", "llama4_default");
  const std::vector<Index> places = golden_indices(llama4, "pos");
  const std::vector<double> factors = golden_numbers(llama4, "factor");
  for (std::size_t n = 0; n < places.size(); ++n) {
    CHECK(floored_factor(places[n] + 1, 8192, 0.1) == doctest::Approx(factors[n]).epsilon(1e-13));
  }
}

TEST_CASE("score scale: the number of visible keys is what the mask shows") {
  for (const bool causal : {true, false}) {
    for (const Index window : {0, 1, 4, 50}) {
      for (const Index sinks : {0, 2}) {
        const KeyMask mask{.causal = causal, .window = window, .sinks = sinks};
        for (Index row = 0; row < 12; ++row) {
          Index seen = 0;
          for (Index key = 0; key < 12; ++key) {
            const bool behind = window == 0 || row - key < window || key < sinks;
            seen += behind && (key <= row || !causal) ? 1 : 0;
          }
          CHECK(mask.keys_seen(row, 12) == seen);
        }
      }
    }
  }
}

TEST_CASE("score scale: factors count rows, not positions, and a chunk has those of the whole") {
  PositionalConfig config = config_of(test::any_kind());
  config.score.scale = "logn";
  config.score.base_length = 4;
  const std::vector<double> whole = factors_of(config, 0, 12);
  CHECK(whole[3] == doctest::Approx(1));
  CHECK(whole[11] == doctest::Approx(std::log(12.0) / std::log(4.0)));
  const std::vector<double> part = factors_of(config, 5, 4);
  CHECK(part == std::vector<double>(whole.begin() + 5, whole.begin() + 9));
  config.keys = {.window = 5, .sinks = 1};
  const std::vector<double> windowed = factors_of(config, 0, 12);
  CHECK(windowed[4] == doctest::Approx(std::log(5.0) / std::log(4.0)));
  for (std::size_t row = 5; row < 12; ++row) {
    CHECK(windowed[row] == doctest::Approx(std::log(6.0) / std::log(4.0)));
  }
  config.keys = {};
  config.score.base_length = 0;  // the trained length
  CHECK(factors_of(config, 0, 12)[8] == doctest::Approx(std::log(9.0) / std::log(8.0)));
}

TEST_CASE("score scale: ssmax begins with a mean factor of 1 over the training rows") {
  PositionalConfig config = config_of(test::any_kind());
  config.score.scale = "ssmax";
  for (const Index window : {0, 3}) {
    config.keys.window = window;
    const std::vector<double> factors = factors_of(config, 0, 8);
    REQUIRE(factors.size() == 24);
    for (std::size_t head = 0; head < 3; ++head) {
      double sum = 0;
      for (std::size_t row = 0; row < 8; ++row) sum += factors[8 * head + row];
      CHECK(sum / 8 == doctest::Approx(1).epsilon(1e-6));
      CHECK(factors[8 * head] == 0);
    }
  }
  config.keys.window = 1;  // one key: nothing to scale
  CHECK(factors_of(config, 0, 8)[7] == 0);
}

TEST_CASE("score scale: ssmax has a parameter a head in every layer, the others have none") {
  Transformer plain(tiny_plan());
  for (const char* scale : score_scales) {
    const Transformer model(scaled_plan(scale));
    const Index more = model.parameters().size() - plain.parameters().size();
    CHECK(more == (std::string(scale) == "ssmax" ? 4 : 0));
  }
  Transformer model(scaled_plan("ssmax"));
  for (const char* name :
       {"blocks/0/attention/positional/score_scale", "blocks/1/attention/positional/score_scale"}) {
    const Parameter* parameter = model.parameters().find(name);
    REQUIRE(parameter != nullptr);
    CHECK(parameter->shape() == Shape{2});
    CHECK_FALSE(parameter->decays());
  }
  // Shared parameters are bit-equal to those of the model without.
  for (const Parameter& parameter : plain.parameters().parameters()) {
    const Parameter* same = model.parameters().find(parameter.name());
    REQUIRE(same != nullptr);
    CHECK(numbers_of(same->value()) == numbers_of(parameter.value()));
  }
}

TEST_CASE("score scale: cached is full, every scale and encoding, under windows too") {
  for (const std::string& kind : all_kinds()) {
    if (kind == "cope") {  // whose gates a scale would change
      CHECK_THROWS_WITH_AS(Transformer{scaled_plan("logn", kind, 36)},
                           "positional.score.scale = \"logn\" with cope positions: they are counted with "
                           "gates of the score, which the scale would change; use one of the two",
                           ConfigError);
      continue;
    }
    for (const char* scale : score_scales) {
      for (const KeyMask& mask : {KeyMask{}, KeyMask{.window = 4}, KeyMask{.window = 9, .sinks = 3}}) {
        ModelPlan plan = scaled_plan(scale, kind, 36);
        plan.positional.keys = mask;
        Transformer model(plan);
        stir(model.parameters());
        check_cached(kind + ", " + scale + ", window " + std::to_string(mask.window), model);
      }
    }
  }
}

TEST_CASE("score scale: moved positions change nothing where the encoding sees none" *
          test::needs({"none"})) {
  const std::vector<Token> ids = tiny_tokens(12);
  for (const char* scale : score_scales) {
    const Transformer model = stirred(scaled_plan(scale, "none"));
    CHECK(full_logits(model, ids, 37) == full_logits(model, ids));
  }
}

TEST_CASE("score scale: a scale acts, and none is the model as it was") {
  const std::vector<Token> ids = tiny_tokens(16);
  const std::vector<double> before = full_logits(stirred(tiny_plan()), ids);
  for (const char* scale : score_scales) {
    const std::vector<double> after = full_logits(stirred(scaled_plan(scale)), ids);
    CHECK_MESSAGE(largest_difference(after, before) > 1e-3, scale);
  }
  // Within the trained length the clipped factor is 1 everywhere.
  ModelPlan clipped = scaled_plan("logn");
  clipped.positional.score.clip = true;
  CHECK(full_logits(stirred(clipped), ids) == before);
}

TEST_CASE("score scale: llama4 acts on the layers of kind none where there is a pattern" *
          test::needs({"none", "alibi"})) {
  PositionalConfig config = config_of("none");
  config.score.scale = "llama4";
  config.score.floor_scale = 2;
  CHECK(factors_of(config, 0, 4, 1).size() == 4);
  config.pattern = {"alibi", "none"};
  CHECK(factors_of(config, 0, 4, 0).empty());
  CHECK(factors_of(config, 0, 4, 1).size() == 4);
  CHECK(factors_of(config, 0, 4, 2).empty());
  ModelPlan plan = scaled_plan("llama4", "alibi");
  plan.positional.pattern = {"alibi", "alibi"};
  CHECK(tells(refused_plan(plan), {"positional.score.scale", "llama4", "positional.layers.pattern"}));
}

TEST_CASE("score scale: around positions counted with gates only where it does not act" *
          test::needs({"none", "cope"})) {
  ModelPlan plan = scaled_plan("llama4", "cope");
  CHECK(tells(refused_plan(plan), {"positional.score.scale = \"llama4\" with cope positions"}));
  plan.positional.pattern = {"cope", "none"};
  CHECK(refused_plan(plan).empty());
  plan.positional.score.scale = "logn";
  CHECK(tells(refused_plan(plan), {"positional.score.scale = \"logn\" with cope positions"}));
}

TEST_CASE("score scale: gradients of ssmax's scales, grouped key heads and windows among them") {
  for (const Index window : {0, 3}) {
    ModelPlan plan = scaled_plan("ssmax", test::any_kind(), 7);
    plan.model.heads = 4;
    plan.model.key_value_heads = 2;
    plan.positional.keys = {.window = window, .sinks = window / 3};
    Transformer model(plan);
    stir(model.parameters());
    const std::vector<Token> ids = tiny_tokens(14);
    gradcheck("a model with ssmax", model.parameters(),
              [&](Tape& tape) {
                Pass pass(tape);
                return model.hidden(pass, ids, 2);
              },
              {.elements = 6});
  }
}

TEST_CASE("score scale: what makes no sense is refused by name") {
  ModelPlan plan = tiny_plan();
  plan.positional.score.scale = "log";
  CHECK(tells(refused_plan(plan), {"positional.score.scale = \"log\"", "none, logn, ssmax, llama4"}));
  plan.positional.score.scale = "logn";
  plan.train_length = 1;
  CHECK(tells(refused_plan(plan), {"logn", "train.length = 1", "positional.score.base_length"}));
  plan.positional.score.base_length = 1;
  CHECK(tells(refused_plan(plan), {"positional.score.base_length = 1"}));
  plan.positional.score.base_length = 2;
  CHECK(refused_plan(plan).empty());
  plan = tiny_plan();
  plan.positional.score.floor_scale = 0;
  CHECK(tells(refused_plan(plan), {"positional.score.floor_scale = 0"}));
  plan = tiny_plan();
  plan.positional.score.attention_scale = -1;
  CHECK(tells(refused_plan(plan), {"positional.score.attention_scale = -1"}));
}
