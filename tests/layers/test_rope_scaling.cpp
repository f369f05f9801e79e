#include <doctest/doctest.h>

#include <cmath>

#include "core/error.h"
#include "core/ops.h"
#include "tests/layers/golden_attention.h"
#include "tests/layers/rope_options.h"
#include "tests/support/golden.h"
#include "tests/support/text.h"

using namespace tapeline;

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

/// The options that a golden case's parameters mean.
RopeOptions rope_options_of(const nlohmann::json& parameters) {
  RopeOptions options{{"scaling", parameters.at("kind").get<std::string>()}};
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

std::vector<double> rope_frequencies(const RopeScaling& scaling, Index length, std::size_t pairs = 8,
                                     double base = 10000) {
  std::vector<double> frequencies(pairs);
  rotary_frequencies(scaling, base, length, frequencies);
  return frequencies;
}

/// The error of these options, a head of 8 pairs, trained at 64.
std::string scaling_refusal(const RopeOptions& options) {
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
    const RopeScaling scaling = scaling_of(rope_options_of(parameters), 64, width / 2);
    const Index length = parameters.contains("L") ? parameters.at("L").get<Index>() : 100000;
    const std::vector<double> found =
        rope_frequencies(scaling, length, static_cast<std::size_t>(width / 2), parameters.at("base"));
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
    RopeOptions options = rope_options_of(expected.at("params"));
    options["fraction"] = expected.at("params").at("rotary_dim").get<double>() / 8;
    GoldenAttention(config_of("rope", options)).check(name);
  }
  CHECK(cases == 15);
}

TEST_CASE("golden tables: heads rotated under yarn") {
  const auto& expected = golden_case("rope", "rot_yarn_half");
  const RotaryPositions encoding({.head_width = 16,
                                  .rotated_width = 16,
                                  .scaling = scaling_of(rope_options_of(expected.at("params")), 64, 8)});
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
  const std::vector<double> plain = rope_frequencies({}, 0);
  std::vector<double> factors(8, 2.0);
  for (const char* kind : {"linear", "ntk", "dynamic_ntk", "ntk_by_parts", "yarn", "llama3", "longrope"}) {
    CAPTURE(kind);
    RopeOptions options{{"scaling", kind}};
    if (options["scaling"] == OptionValue("longrope")) options["long_factors"] = factors;
    const RopeScaling scaling = scaling_of(options, 64, 8);
    for (const Index length : {1, 63, 64}) {
      CHECK(rope_frequencies(scaling, length) == plain);
      CHECK(rotary_factor(scaling, length) == 1);
    }
    CHECK(rope_frequencies(scaling, 65) != plain);
    CHECK(depends_on_length(scaling));
  }
}

TEST_CASE("rope scaling: what each one promises") {
  const std::vector<double> plain = rope_frequencies({}, 0);
  SUBCASE("ntk: the first pair as it was, the last one divided by the factor") {
    const std::vector<double> found =
        rope_frequencies(scaling_of({{"scaling", "ntk"}, {"factor", 4.0}}, 64, 8), 0);
    CHECK(found.front() == plain.front());
    CHECK(found.back() == doctest::Approx(plain.back() / 4).epsilon(1e-14));
  }
  SUBCASE("dynamic ntk: ntk by the length, faster with a larger alpha") {
    const RopeScaling ntk = scaling_of({{"scaling", "ntk"}}, 64, 8);
    const RopeScaling dynamic = scaling_of({{"scaling", "dynamic_ntk"}}, 64, 8);
    const RopeScaling faster = scaling_of({{"scaling", "dynamic_ntk"}, {"alpha", 2.0}}, 64, 8);
    CHECK(largest_difference(rope_frequencies(dynamic, 200), rope_frequencies(ntk, 200)) < 1e-15);
    CHECK(largest_difference(rope_frequencies(faster, 128), rope_frequencies(ntk, 192)) < 1e-15);
    CHECK(rope_frequencies(dynamic, 300).back() < rope_frequencies(dynamic, 200).back());
  }
  SUBCASE("longrope: the long list from one row past the trained length on") {
    const std::vector<double> large(8, 2.0), small(8, 1.5);
    const RopeScaling scaling = scaling_of(
        {{"scaling", "longrope"}, {"factor", 4.0}, {"long_factors", large}, {"short_factors", small}}, 64, 8);
    CHECK(rope_frequencies(scaling, 64).back() == plain.back() / 1.5);
    CHECK(rope_frequencies(scaling, 65).back() == plain.back() / 2);
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
      const std::vector<double> found = rope_frequencies(scaling, 0);
      for (std::size_t p = 1; p < 8; ++p) CHECK(found[p] == plain[p] / 2);
    }
  }
  SUBCASE("ramps of turns: whole below the first number, nothing above the second, also as a step") {
    // Pair p makes 64 / 2 pi 10^(-p/2) turns: 10.2, 3.2, 1.02, 0.3, …
    for (const double high : {1.0, 3.0}) {
      const RopeScaling scaling =
          scaling_of({{"scaling", "llama3"}, {"factor", 8.0}, {"low", 1.0}, {"high", high}}, 64, 8);
      const std::vector<double> found = rope_frequencies(scaling, 0);
      CHECK(found[0] == plain[0]);
      CHECK(found[1] == plain[1]);
      CHECK(found[3] == plain[3] / 8);
      if (high == 1) CHECK(found[2] == plain[2]);
      if (high == 3) CHECK(found[2] < plain[2]);
    }
  }
}

TEST_CASE("rope scaling: what makes no sense is refused by name") {
  const auto refused = [](const RopeOptions& options, const std::vector<std::string>& parts) {
    const std::string error = scaling_refusal(options);
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
  refused({{"scaling", "linear"}, {"factor", "inf"}}, {"factor = \"inf\"", "a number"});
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
  CHECK(scaling_refusal({{"scaling", "longrope"}, {"factor", 2.0}, {"long_factors", list(3)}}).empty());
  CHECK_THROWS_AS(scaling_of({{"scaling", "ntk"}}, 64, 1), ConfigError);
  CHECK_THROWS_AS(scaling_of({{"scaling", "linear"}}, 1, 8), ConfigError);
  CHECK(scaling_of({{"scaling", "linear"}, {"factor", Index{1}}}, 64, 1).factor == 1.0);
}
