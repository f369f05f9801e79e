#include "layers/positional/sandwich.h"

#include <doctest/doctest.h>

#include "core/error.h"
#include "tests/layers/bias_check.h"

using namespace tapeline;

TEST_CASE("golden tables: sandwich, the sum of cosines") {
  const auto& expected = golden_case("bias", "sandwich_unit_128");
  const SandwichPositions encoding({.heads = 8, .head_width = 2});
  std::vector<double> found, opposite;
  for (const Index distance : golden_indices(expected, "d")) {
    found.push_back(biases_of(encoding, 8, {distance, 1})[0] + 64);  // head 1 of 8: factor 1
    opposite.push_back(biases_of(encoding, 8, {-distance, 1})[0] + 64);
  }
  CHECK(found == opposite);
  const Storage sums = filled_storage({static_cast<Index>(found.size())}, found);
  check_golden("sandwich", sums.tensor(), expected, "sum_cos");
}

TEST_CASE("golden attention: sandwich") {
  GoldenAttention made(config_of("sandwich"));
  CHECK(made.store.parameters().empty());
  made.check("sandwich");
  const auto& expected = golden_case("attention", "sandwich");
  const std::vector<double> row = golden_numbers(expected, "bias");  // up to a constant a row
  const std::vector<double> found = biases_of(*made.encoding, 3, {0, 10});
  for (std::size_t h = 0; h < 3; ++h) {
    for (std::size_t d = 0; d < 10; ++d) {
      const std::size_t last = h * 100 + 90;
      CHECK(found[h * 10 + d] == doctest::Approx(row[last + 9 - d] - row[last + 9]).epsilon(1e-5));
    }
  }
}

TEST_CASE("sandwich: against plain loops, with gaps between positions") {
  check_bias("sandwich", config_of("sandwich"));
  check_bias("sandwich, not causal", config_of("sandwich", {{"dimension", Index{6}}}), false);
}

TEST_CASE("sandwich: the width of the sinusoids and the order of heads") {
  const SandwichPositions two({.heads = 2, .head_width = 4, .dimension = 2});  // one cosine of frequency 1
  const std::vector<double> found = biases_of(two, 2, {3, 1});
  CHECK(found[0] == doctest::Approx((std::cos(3.0) - 1) / 4));
  CHECK(found[1] == doctest::Approx((std::cos(3.0) - 1) / 8));
  // The same numbers, whether asked for at once or one after the other.
  const SandwichPositions slow({.heads = 2, .head_width = 4}), fast({.heads = 2, .head_width = 4});
  const std::vector<double> whole = biases_of(fast, 2, {0, 300});
  for (Index d = 0; d < 300; ++d) CHECK(biases_of(slow, 2, {d, 1})[0] == whole[static_cast<std::size_t>(d)]);
}

TEST_CASE("sandwich: a width that is no even number is refused by name") {
  for (const Index dimension : {-2, 0, 1, 7, 65538}) {
    CHECK_THROWS_WITH_AS(
        GoldenAttention(config_of("sandwich", {{"dimension", dimension}})),
        fmt::format("positional.sandwich.dimension = {}; it takes an even number from 2 to 65536", dimension)
            .c_str(),
        ConfigError);
  }
}
