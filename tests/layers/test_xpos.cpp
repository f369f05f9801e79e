#include <doctest/doctest.h>

#include <cmath>

#include "core/error.h"
#include "core/ops.h"
#include "layers/generate.h"
#include "layers/positional/xpos.h"
#include "tests/layers/cached_check.h"
#include "tests/layers/golden_attention.h"
#include "tests/support/golden.h"
#include "tests/support/text.h"

using namespace tapeline;

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

/// The score of a query of ones at position i and a key of ones at j, before 1/sqrt(D), the query alone in
/// its pass.
double score_of_ones(const XposPositions::Settings& settings, Index i, Index j) {
  const XposPositions encoding(settings);
  TestTape tape(Recording::off);
  Pass pass(*tape);
  const Positions query{.begin = i, .count = 1}, key{.begin = j, .count = 1};
  const Storage ones =
      filled_storage({1, 1, 1, settings.head_width},
                     std::vector<double>(static_cast<std::size_t>(settings.head_width), 1.0));
  const auto turned = [&](Role role, const Positions& rows) {
    return numbers_of(
        rotate(tape->constant(ones.tensor()), encoding.rotation(pass, role, rows, {query, key}, 0)).value());
  };
  const std::vector<double> q = turned(Role::query, query), k = turned(Role::key, key);
  double score = 0;
  for (std::size_t f = 0; f < q.size(); ++f) score += q[f] * k[f];
  return score;
}

std::string xpos_refusal(ModelPlan plan) {
  try {
    Transformer model(plan);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return {};
}

ModelPlan xpos_plan(OptionValue scale_base = "auto", Index train_length = 16) {
  return with_option(tiny_plan("xpos", train_length), "scale_base", std::move(scale_base));
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION

TEST_CASE("golden attention: xpos in both pairings") {
  GoldenAttention(config_of("xpos", {{"scale_base", 512.0}, {"center", Index{0}}})).check("xpos_interleaved");
  GoldenAttention(config_of("xpos", {{"scale_base", 512.0}})).check("xpos_interleaved");  // any centre
  for (const OptionValue& center : {OptionValue(Index{0}), OptionValue("middle")}) {
    GoldenAttention(config_of("xpos", {{"scale_base", 8.0}, {"pairing", "half"}, {"center", center}}))
        .check("xpos_half_base8");
  }
}

TEST_CASE("golden tables: heads turned and scaled by xpos, two centres") {
  for (const char* name : {"rot_xpos_interleaved_center0", "rot_xpos_interleaved_center3"}) {
    const auto& expected = golden_case("rope", name);
    const XposPositions encoding(
        {.head_width = 16, .rotated_width = 16, .center = expected.at("params").at("center").get<double>()});
    for (const std::string array : {"q", "k"}) {
      const Storage x = golden_storage(golden_case("rope", "rot_inputs"), array, {1, 2, 6, 16});
      TestTape tape(Recording::off);
      Pass pass(*tape);
      const Positions rows{.begin = 0, .count = 6};
      const Role role = array == "q" ? Role::query : Role::key;
      const Rotation turn = encoding.rotation(pass, role, rows, {rows, rows}, 0);
      check_golden(name, rotate(tape->constant(x.tensor()), turn).value(), expected, array);
    }
  }
}

TEST_CASE("xpos: far positions do not overflow, only their difference counts") {
  const XposPositions::Settings settings{.head_width = 64, .rotated_width = 64};
  CHECK(score_of_ones(settings, 40000, 40000) == doctest::Approx(64).epsilon(1e-5));
  CHECK(score_of_ones(settings, 40000, 39990) == doctest::Approx(41.878583).epsilon(2e-5));
  CHECK(score_of_ones(settings, 10, 0) == doctest::Approx(41.878583).epsilon(2e-5));
  CHECK(std::abs(score_of_ones(settings, 40000, 0)) < 1.0);  // the slowest pairs are left
  CHECK(std::abs(score_of_ones({.head_width = 2, .rotated_width = 2, .scale_base = 1}, 500, 0)) < 1e-37);
}

TEST_CASE("xpos: chunks over a cache, shifted texts and other centres give the same rows") {
  const std::vector<Token> ids = tiny_tokens(36);
  for (const OptionValue& scale_base : {OptionValue("auto"), OptionValue(2.0), OptionValue(512.0)}) {
    const Transformer middle = stirred(xpos_plan(scale_base));
    check_cached("xpos, scale_base " + option_text(scale_base), middle);
    const std::vector<double> logits = full_logits(middle, ids);
    CHECK(largest_difference(full_logits(middle, ids, 500), logits) < (sizeof(Real) == 8 ? 1e-9 : 1e-3));
    const Transformer fixed = stirred(with_option(xpos_plan(scale_base), "center", Index{5}));
    CHECK(largest_difference(full_logits(fixed, ids), logits) < cached_limit());
    check_cached("xpos, centre 5, scale_base " + option_text(scale_base), fixed);
  }
}

TEST_CASE("xpos: scores decay with the distance, the sooner the smaller the scale base") {
  const std::vector<Token> ids = tiny_tokens(36);
  const Transformer rope_like = stirred(xpos_plan(1e9)), decaying = stirred(xpos_plan(4.0));
  CHECK(largest_difference(full_logits(rope_like, ids), full_logits(decaying, ids)) > 1e-3);
  if (!test::is_built("rope")) return;
  ModelPlan plan = tiny_plan("rope");
  const Transformer rope = stirred(with_option(plan, "pairing", "interleaved"));
  CHECK(largest_difference(full_logits(rope, ids), full_logits(rope_like, ids)) < 1e-5);
}

TEST_CASE("xpos: a long text runs in chunks within the range of a float, where one pass is refused") {
  const Transformer model = stirred(xpos_plan(0.5));
  CHECK(model.rows_a_pass(1024) == 40);
  const std::vector<Token> ids = tiny_tokens(400);
  try {
    full_logits(model, ids);
    FAIL("nothing was thrown");
  } catch (const ShapeError& error) {
    CHECK(test::contains(error.what(), "400 query rows"));
    CHECK(test::contains(error.what(), "chunks"));
  }
  const std::vector<double> small = cached_logits(model, ids, {1});
  for (const double logit : small) REQUIRE(std::isfinite(logit));
  CHECK(largest_difference(cached_logits(model, ids, {40}), small) < cached_limit());
  CHECK(largest_difference(cached_logits(model, ids, {7}), small) < cached_limit());

  Generation request;  // the prompt is cut in chunks that fit
  request.tokens = 5;
  request.sampling.temperature = 0;
  CHECK(generate(model, ids, request).tokens.size() == 5);
}

TEST_CASE("xpos: training at the whole window gives finite gradients at the edge of the range") {
  Transformer model = stirred(xpos_plan(0.2));  // 80 x 0.2 = 16, the trained length
  model.parameters().zero_gradients();
  const std::vector<Token> ids = tiny_tokens(17);
  TestTape tape;
  Pass pass(*tape);
  const Var loss = model.loss(pass, std::span(ids).first(16), std::span(ids).last(16), 1);
  tape->backward(loss);
  for (const Parameter& parameter : model.parameters().parameters()) {
    const Tensor gradient = parameter.grad();
    for (Index i = 0; i < gradient.size(); ++i) REQUIRE(std::isfinite(gradient.data[i]));
  }
}

TEST_CASE("xpos: what makes no sense is refused by name") {
  ModelPlan both_ways = xpos_plan();
  both_ways.positional.keys.causal = false;
  CHECK(test::contains(xpos_refusal(both_ways), "without the causal mask"));
  CHECK(test::contains(xpos_refusal(xpos_plan(0.0)), "positional.xpos.scale_base = 0"));
  CHECK(test::contains(xpos_refusal(xpos_plan(0.1)), "at least 0.2"));
  CHECK(test::contains(xpos_refusal(xpos_plan("far")), "scale_base"));
  CHECK(test::contains(xpos_refusal(with_option(xpos_plan(), "base", 1.0)), "positional.xpos.base"));
  CHECK(test::contains(xpos_refusal(with_option(xpos_plan(), "fraction", 0.3)), "positional.xpos.fraction"));
  CHECK(test::contains(xpos_refusal(with_option(xpos_plan(), "center", "left")), "center"));
  for (const char* far : {"1e308", "36"})  // position 0 would be past 70 scale bases before it
    CHECK(test::contains(xpos_refusal(with_option(xpos_plan(0.5), "center", std::string(far))),
                         "positional.xpos.center"));
  const Transformer fixed(with_option(xpos_plan(0.5), "center", Index{0}));
  try {
    full_logits(fixed, tiny_tokens(50));
    FAIL("nothing was thrown");
  } catch (const ShapeError& error) {
    CHECK(test::contains(error.what(), "xpos positions end after row 36; row 50 was asked for"));
  }
}

TEST_CASE("xpos: a fixed centre ends where a float does, and randomized positions count as trained ones") {
  ModelPlan plan = with_option(xpos_plan(8.0), "center", Index{0});
  const Transformer model(plan);
  CHECK(model.max_length() == 561);  // 70 scale bases, and row 0
  CHECK(model.limited_by() == "xpos");
  plan.train_length = 600;
  CHECK_THROWS_AS(Transformer{plan}, ConfigError);

  ModelPlan drawn = tiny_plan("xpos");
  drawn.positional.randomized.maximum = 4096;  // scale_base auto reaches across the draw
  Transformer randomized = stirred(drawn);
  Arena arena;
  GradientPool pool;
  Tape tape(arena, pool);
  Pass pass(tape);
  const std::vector<Token> ids = tiny_tokens(16);
  const Var loss = randomized.loss(pass, ids, ids, 1);
  CHECK(std::isfinite(*loss.value().data));
  CHECK_THROWS_AS(Transformer{with_option(drawn, "scale_base", Index{16})}, ConfigError);
}
