#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "core/error.h"
#include "core/ops.h"
#include "layers/positional/rope.h"
#include "layers/positional/rope_scaling_options.h"
#include "tests/layers/cached_check.h"
#include "tests/layers/golden_attention.h"
#include "tests/support/golden.h"
#include "tests/support/text.h"

using namespace tapeline;

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

using Options = std::map<std::string, OptionValue>;

/// The options that a golden case's parameters mean.
Options options_of(const nlohmann::json& parameters) {
  Options options{{"scaling", parameters.at("kind").get<std::string>()}};
  const auto take = [&](const char* theirs, const char* ours) {
    if (!parameters.contains(theirs)) return;
    const nlohmann::json& value = parameters.at(theirs);
    if (value.is_boolean()) {
      options[ours] = value.get<bool>();
    } else if (value.is_string()) {
      options[ours] = value.get<std::string>();
    } else if (value.is_number_integer()) {
      options[ours] = value.get<Index>();
    } else if (value.is_array()) {
      options[ours] = value.get<std::vector<double>>();
    } else {
      options[ours] = value.get<double>();
    }
  };
  take("base", "base");
  take("pairing", "pairing");
  take("s", "factor");
  if (parameters.at("kind") != "none") take("L0", "original_length");
  take("alpha", "alpha");
  take("beta", "beta");
  take("truncate", "truncate");
  take("low", "low");
  take("high", "high");
  take("factors", "long_factors");
  take("keep_first", "keep_first");
  return options;
}

RopeScaling scaling_of(const Options& options, Index train_length, Index pairs) {
  OptionValues values(rope_kind().options);
  for (const auto& [name, value] : options) {
    const auto field = std::ranges::find(rope_kind().options, name, &OptionField::name);
    REQUIRE(field != rope_kind().options.end());
    values.set(name, checked_option(*field, value, name));
  }
  return read_rope_scaling(values, train_length, pairs);
}

std::vector<double> frequencies_of(const RopeScaling& scaling, Index length, std::size_t pairs = 8,
                                   double base = 10000) {
  std::vector<double> frequencies(pairs);
  rotary_frequencies(scaling, base, length, frequencies);
  return frequencies;
}

/// Options of every scaling, for a head of width 8 all of which is rotated.
std::vector<Options> every_scaling() {
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

ModelPlan plan_of(const Options& options, Index train_length) {
  ModelPlan plan = tiny_plan("rope", train_length);
  for (const auto& [name, value] : options) plan = with_option(plan, name, value);
  return plan;
}

std::string name_of(const Options& options) {
  std::string name;
  for (const auto& [key, value] : options) name += key + " " + option_text(value) + " ";
  return name;
}

/// The error of these options, a head of 8 pairs, trained at 64.
std::string refusal(const Options& options) {
  try {
    scaling_of(options, 64, 8);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return {};
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION

TEST_CASE("golden tables: rope frequencies and factors, every scaling") {
  int cases = 0;
  for (const auto& [name, expected] : golden_cases("rope").items()) {
    if (!name.starts_with("freq_")) continue;
    CAPTURE(name);
    ++cases;
    const auto& parameters = expected.at("params");
    const Index width = parameters.at("rotary_dim");
    const RopeScaling scaling = scaling_of(options_of(parameters), 64, width / 2);
    const Index length = parameters.contains("L") ? parameters.at("L").get<Index>() : 100000;
    const std::vector<double> found =
        frequencies_of(scaling, length, static_cast<std::size_t>(width / 2), parameters.at("base"));
    CHECK(largest_difference(found, golden_numbers(expected, "inv_freq")) < 1e-14);
    CHECK(std::abs(rotary_factor(scaling, length) - golden_numbers(expected, "cos_sin_factor")[0]) < 1e-14);
  }
  CHECK(cases == 19);
}

TEST_CASE("golden attention: rope in both pairings, partial, every scaling, explicit positions") {
  int cases = 0;
  for (const auto& [name, expected] : golden_cases("attention").items()) {
    if (!name.starts_with("rope_")) continue;
    ++cases;
    Options options = options_of(expected.at("params"));
    options["fraction"] = expected.at("params").at("rotary_dim").get<double>() / 8;
    GoldenAttention(config_of("rope", options)).check(name);
  }
  CHECK(cases == 15);
}

TEST_CASE("golden tables: heads rotated under yarn") {
  const auto& expected = golden_case("rope", "rot_yarn_half");
  const RotaryPositions encoding({.head_width = 16,
                                  .rotated_width = 16,
                                  .scaling = scaling_of(options_of(expected.at("params")), 64, 8)});
  const std::vector<Index> positions = golden_indices(golden_case("rope", "rot_inputs"), "positions");
  for (const std::string array : {"q", "k"}) {
    const Storage x = golden_storage(golden_case("rope", "rot_inputs"), array, {1, 2, 6, 16});
    TestTape tape(Recording::off);
    Pass pass(*tape);
    const Positions rows = rows_of(positions);
    const Rotation turn = encoding.rotation(pass, Role::query, rows, {rows, rows}, 0);
    check_golden("rot_yarn_half", rotate(tape->constant(x.tensor()), turn).value(), expected, array);
  }
}

TEST_CASE("rope scaling: contexts up to the trained length are left as they are, bit for bit") {
  const std::vector<double> plain = frequencies_of({}, 0);
  std::vector<double> factors(8, 2.0);
  for (const char* kind : {"linear", "ntk", "dynamic_ntk", "ntk_by_parts", "yarn", "llama3", "longrope"}) {
    CAPTURE(kind);
    Options options{{"scaling", kind}};
    if (options["scaling"] == OptionValue("longrope")) options["long_factors"] = factors;
    const RopeScaling scaling = scaling_of(options, 64, 8);
    for (const Index length : {1, 63, 64}) {
      CHECK(frequencies_of(scaling, length) == plain);
      CHECK(rotary_factor(scaling, length) == 1);
    }
    CHECK(frequencies_of(scaling, 65) != plain);
    CHECK(depends_on_length(scaling));
  }
}

TEST_CASE("rope scaling: what each one promises") {
  const std::vector<double> plain = frequencies_of({}, 0);
  SUBCASE("ntk: the first pair as it was, the last one divided by the factor") {
    const std::vector<double> found =
        frequencies_of(scaling_of({{"scaling", "ntk"}, {"factor", 4.0}}, 64, 8), 0);
    CHECK(found.front() == plain.front());
    CHECK(found.back() == doctest::Approx(plain.back() / 4).epsilon(1e-14));
  }
  SUBCASE("dynamic ntk: ntk by the length, faster with a larger alpha") {
    const RopeScaling ntk = scaling_of({{"scaling", "ntk"}}, 64, 8);
    const RopeScaling dynamic = scaling_of({{"scaling", "dynamic_ntk"}}, 64, 8);
    const RopeScaling faster = scaling_of({{"scaling", "dynamic_ntk"}, {"alpha", 2.0}}, 64, 8);
    CHECK(largest_difference(frequencies_of(dynamic, 200), frequencies_of(ntk, 200)) < 1e-15);
    CHECK(largest_difference(frequencies_of(faster, 128), frequencies_of(ntk, 192)) < 1e-15);
    CHECK(frequencies_of(dynamic, 300).back() < frequencies_of(dynamic, 200).back());
  }
  SUBCASE("longrope: the long list from one row past the trained length on") {
    const std::vector<double> large(8, 2.0), small(8, 1.5);
    const RopeScaling scaling = scaling_of(
        {{"scaling", "longrope"}, {"factor", 4.0}, {"long_factors", large}, {"short_factors", small}}, 64, 8);
    CHECK(frequencies_of(scaling, 64).back() == plain.back() / 1.5);
    CHECK(frequencies_of(scaling, 65).back() == plain.back() / 2);
    CHECK(rotary_factor(scaling, 64) == doctest::Approx(std::sqrt(1 + std::log(4.0) / std::log(64.0))));
    CHECK(rotary_factor(scaling, 64) == rotary_factor(scaling, 1000));
  }
  SUBCASE("defaults that shrink with the trained length") {
    CHECK(scaling_of({{"scaling", "ntk_by_parts"}}, 64, 8).beta == 8);
    CHECK(scaling_of({{"scaling", "ntk_by_parts"}}, 4096, 8).beta == 32);
    CHECK(scaling_of({{"scaling", "ntk_by_parts"}}, 4, 8).beta == 1);  // a step, not a falling ramp
    CHECK(scaling_of({{"scaling", "yarn"}, {"original_length", Index{2048}}}, 64, 8).original_length == 2048);
  }
  SUBCASE("yarn: where no pair turns once, all are divided by the whole factor") {
    for (const bool truncate : {true, false}) {
      const RopeScaling scaling =
          scaling_of({{"scaling", "yarn"}, {"factor", 2.0}, {"truncate", truncate}}, 2, 8);
      const std::vector<double> found = frequencies_of(scaling, 0);
      for (std::size_t p = 1; p < 8; ++p) CHECK(found[p] == plain[p] / 2);
    }
  }
  SUBCASE("ramps of turns: whole below the first number, nothing above the second, also as a step") {
    // Pair p makes 64 / 2 pi 10^(-p/2) turns: 10.2, 3.2, 1.02, 0.3, …
    for (const double high : {1.0, 3.0}) {
      const RopeScaling scaling =
          scaling_of({{"scaling", "llama3"}, {"factor", 8.0}, {"low", 1.0}, {"high", high}}, 64, 8);
      const std::vector<double> found = frequencies_of(scaling, 0);
      CHECK(found[0] == plain[0]);
      CHECK(found[1] == plain[1]);
      CHECK(found[3] == plain[3] / 8);
      if (high == 1) CHECK(found[2] == plain[2]);
      if (high == 3) CHECK(found[2] < plain[2]);
    }
  }
}

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
  for (const Options& options : every_scaling()) {
    for (const Index window : {0, 9}) {
      ModelPlan plan = plan_of(options, 12);
      plan.positional.keys = {.causal = true, .window = window, .sinks = window / 3};
      check_cached(name_of(options) + ", window " + std::to_string(window), stirred(plan));
    }
  }
}

TEST_CASE("rope scaling: keys are cached unturned where the length decides") {
  for (const Options& options : every_scaling()) {
    CAPTURE(name_of(options));
    const Transformer model(plan_of(options, 12));
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
  for (const Options& options : every_scaling()) {
    CAPTURE(name_of(options));
    const Transformer model = stirred(plan_of(options, 12));
    CHECK(logits(model, 0) == logits(model, 20));
    const std::string kind = std::get<std::string>(options.at("scaling"));
    const bool by_length = kind == "dynamic_ntk" || !options.contains("factor");
    // In all but the last scaling lists and m are the same at 20 and at 40; there m grows.
    CHECK((logits(model, 40) != logits(model, 20)) == by_length);
  }
}

TEST_CASE("rope scaling: scores depend on differences of positions, whatever the scaling") {
  const std::vector<Token> ids = tiny_tokens(20);
  for (const Options& options : every_scaling()) {
    CAPTURE(name_of(options));
    const Transformer model = stirred(plan_of(options, 12));
    const double difference = largest_difference(full_logits(model, ids, 1000), full_logits(model, ids));
    CHECK((difference < (sizeof(Real) == 8 ? 1e-9 : 1e-3)) == !options.contains("keep_first"));
  }
}

TEST_CASE("rope scaling: what makes no sense is refused by name") {
  const auto refused = [](const Options& options, const std::vector<std::string>& parts) {
    const std::string error = refusal(options);
    CAPTURE(error);
    for (const std::string& part : parts) {
      CAPTURE(part);
      CHECK(test::contains(error, part));
    }
  };
  refused({{"scaling", "twice"}}, {"scaling = \"twice\"", "ntk_by_parts"});
  refused({{"factor", 2.0}}, {"positional.rope.factor = \"2\" does nothing", "\"none\"", "linear, ntk, "});
  refused({{"scaling", "yarn"}, {"beta", 3.0}},
          {"positional.rope.beta", "ntk_by_parts", "leave it at \"auto\""});
  refused({{"scaling", "dynamic_ntk"}, {"factor", 2.0}}, {"positional.rope.factor"});
  refused({{"scaling", "linear"}, {"factor", 0.5}}, {"positional.rope.factor = 0.5", "at least 1"});
  refused({{"scaling", "linear"}, {"factor", "inf"}}, {"positional.rope.factor = \"inf\""});
  refused({{"scaling", "linear"}, {"factor", "two"}}, {"factor = \"two\"", "auto"});
  refused({{"scaling", "linear"}, {"original_length", 1.5}}, {"original_length = 1.5", "whole"});
  refused({{"scaling", "dynamic_ntk"}, {"alpha", 0.0}}, {"positional.rope.alpha = 0"});
  refused({{"scaling", "ntk_by_parts"}, {"alpha", 2.0}, {"beta", 1.0}}, {"alpha = 2", "beta = 1"});
  refused({{"scaling", "yarn"}, {"beta_fast", 0.5}}, {"beta_slow = 1", "beta_fast = 0.5"});
  refused({{"scaling", "yarn"}, {"beta_slow", 0.0}}, {"beta_slow = 0"});
  refused({{"scaling", "yarn"}, {"attention_factor", 0.0}}, {"attention_factor = 0"});
  refused({{"scaling", "llama3"}, {"low", 5.0}}, {"low = 5", "high = 4"});
  refused({{"scaling", "longrope"}}, {"needs positional.rope.long_factors", "8 numbers"});
  const auto list = [](double last) { return std::vector<double>{1, 1, 1, 1, 1.5, 1.5, 2, last}; };
  refused({{"scaling", "longrope"}, {"long_factors", std::vector<double>{1, 2}}},
          {"has 2 numbers", "8 pairs"});
  refused({{"scaling", "longrope"}, {"long_factors", list(1.9)}}, {"number 8 is 1.9 after 2", "never fall"});
  refused({{"scaling", "longrope"}, {"long_factors", std::vector<double>(8, 0.5)}},
          {"number 1 is 0.5", "at least 1"});
  refused({{"scaling", "longrope"}, {"factor", 2.0}, {"long_factors", list(3.5)}},
          {"number 8 is 3.5", "at most 3"});
  refused({{"scaling", "longrope"}, {"long_factors", list(3)}, {"short_factors", list(0)}},
          {"short_factors"});
  refused({{"scaling", "longrope"}, {"long_factors", list(3)}, {"keep_first", Index{-1}}},
          {"keep_first = -1"});
  CHECK(refusal({{"scaling", "longrope"}, {"factor", 2.0}, {"long_factors", list(3)}}).empty());
  CHECK_THROWS_AS(scaling_of({{"scaling", "ntk"}}, 64, 1), ConfigError);
  CHECK_THROWS_AS(scaling_of({{"scaling", "linear"}}, 1, 8), ConfigError);
  CHECK(scaling_of({{"scaling", "linear"}, {"factor", Index{1}}}, 64, 1).factor == 1.0);
}
