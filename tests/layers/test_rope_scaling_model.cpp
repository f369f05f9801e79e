#include <doctest/doctest.h>

#include <cmath>

#include "core/ops.h"
#include "tests/layers/cached_check.h"
#include "tests/layers/rope_options.h"

using namespace tapeline;

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

/// Options of every scaling, for a head of width 8 all of which is rotated.
std::vector<RopeOptions> every_scaling() {
  const std::vector<double> factors{1, 1.25, 1.5, 2.5};
  return {{{"scaling", "linear"}},
          {{"scaling", "linear"}, {"factor", 2.5}},
          {{"scaling", "ntk"}},
          {{"scaling", "ntk"}, {"factor", Index{3}}},
          {{"scaling", "dynamic_ntk"}},
          {{"scaling", "dynamic_ntk"}, {"alpha", 2.0}},
          {{"scaling", "ntk_by_parts"}},
          {{"scaling", "ntk_by_parts"}, {"factor", 4.0}, {"alpha", 0.1}, {"beta", 1.5}},
          {{"scaling", "yarn"}},
          {{"scaling", "yarn"}, {"factor", 4.0}, {"attention_factor", 1.1}, {"truncate", false}},
          {{"scaling", "llama3"}},
          {{"scaling", "llama3"}, {"factor", 8.0}, {"low", 0.5}, {"high", 0.5}},
          {{"scaling", "longrope"}, {"long_factors", factors}},
          {{"scaling", "longrope"},
           {"long_factors", factors},
           {"short_factors", factors},
           {"keep_first", Index{5}}}};
}

ModelPlan rope_plan(const RopeOptions& options, Index train_length) {
  ModelPlan plan = tiny_plan("rope", train_length);
  for (const auto& [name, value] : options) plan = with_option(plan, name, value);
  return plan;
}

std::string scaling_text(const RopeOptions& options) {
  std::string name;
  for (const auto& [key, value] : options) name += key + " " + option_text(value) + " ";
  return name;
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION

TEST_CASE("rope scaling: the factor on cosines and sines leaves features that are not rotated alone") {
  const RotaryPositions encoding(
      {.head_width = 8,
       .rotated_width = 4,
       .scaling = scaling_of({{"scaling", "yarn"}, {"factor", 4.0}, {"attention_factor", 1.25}}, 64, 2)});
  TestTape tape(Recording::off);
  Pass pass(*tape);
  const Positions rows{.begin = 7, .count = 1};
  const Rotation turn = encoding.rotation(pass, Role::key, rows, {rows, rows}, 0);
  const Storage x = random_storage({1, 1, 1, 8}, "x");
  const std::vector<double> before = numbers_of(x.tensor());
  const std::vector<double> after = numbers_of(rotate(tape->constant(x.tensor()), turn).value());
  const auto norm = [](const std::vector<double>& v) {
    return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + v[3] * v[3]);
  };
  CHECK(norm(after) / norm(before) == doctest::Approx(1.25 * (0.1 * std::log(4.0) + 1)).epsilon(1e-6));
  for (std::size_t f = 4; f < 8; ++f) CHECK(after[f] == before[f]);
}

TEST_CASE("rope scaling: chunks over a cache give the rows of the full pass of the same declared context") {
  for (const RopeOptions& options : every_scaling()) {
    for (const Index window : {0, 9}) {
      ModelPlan plan = rope_plan(options, 12);
      plan.positional.keys = {.causal = true, .window = window, .sinks = window / 3};
      check_cached(scaling_text(options) + ", window " + std::to_string(window), stirred(plan));
    }
  }
}

TEST_CASE("rope scaling: keys are cached unturned where the length decides") {
  for (const RopeOptions& options : every_scaling()) {
    CAPTURE(scaling_text(options));
    const Transformer model(rope_plan(options, 12));
    const std::string kind = std::get<std::string>(options.at("scaling"));
    const bool by_length = kind == "dynamic_ntk" || kind == "longrope" || !options.contains("factor");
    CHECK((model.encoding().cached_keys() == CachedKeys::raw) == by_length);
  }
}

TEST_CASE("rope scaling: the declared context decides, not the rows of the pass") {
  const std::vector<Token> ids = tiny_tokens(20);
  const auto logits = [&](const Transformer& model, Index declared) {
    TestTape tape(Recording::off);
    Pass pass(*tape);
    pass.declared_context = declared;
    return numbers_of(model.logits(pass, model.hidden(pass, ids, 1)).value());
  };
  for (const RopeOptions& options : every_scaling()) {
    CAPTURE(scaling_text(options));
    const Transformer model = stirred(rope_plan(options, 12));
    CHECK(logits(model, 0) == logits(model, 20));
    const std::string kind = std::get<std::string>(options.at("scaling"));
    const bool by_length = kind == "dynamic_ntk" || !options.contains("factor");
    // In all but the last scaling lists and m are the same at 20 and at 40; there m grows.
    CHECK((logits(model, 40) != logits(model, 20)) == by_length);
  }
}

TEST_CASE("rope scaling: scores depend on differences of positions, whatever the scaling") {
  const std::vector<Token> ids = tiny_tokens(20);
  for (const RopeOptions& options : every_scaling()) {
    CAPTURE(scaling_text(options));
    const Transformer model = stirred(rope_plan(options, 12));
    const double difference = largest_difference(full_logits(model, ids, 1000), full_logits(model, ids));
    CHECK((difference < (sizeof(Real) == 8 ? 1e-9 : 1e-3)) == !options.contains("keep_first"));
  }
}
