#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "experiments/longrope/search.h"
#include "tests/experiments/shell.h"
#include "tests/support/kinds.h"

using namespace tapeline;
using namespace tapeline::test;

namespace {

constexpr Index factor_pairs = 8;

/// The squared distance to a list that never falls.
double factor_distance(std::span<const double> factors) {
  double sum = 0;
  for (std::size_t p = 0; p < factors.size(); ++p) {
    const double away = factors[p] - std::min(4.5, 1 + 0.1 * static_cast<double>(p * p));
    sum += away * away;
  }
  return sum;
}

FactorSearchResult found_factors(const FactorSearch& search) {
  return search_factors(search, factor_starts(factor_pairs, 10000, 64, 256), factor_distance);
}

}  // namespace

TEST_CASE("longrope search: starts are the scalings at the target length") {
  const std::vector<FactorList> starts = factor_starts(factor_pairs, 10000, 64, 256);
  REQUIRE(starts.size() == 5);
  CHECK(starts[0].factors == std::vector<double>(8, 1.0));
  CHECK(starts[1].name == "linear");
  for (const double factor : starts[1].factors) CHECK(factor == doctest::Approx(4).epsilon(1e-14));
  CHECK(starts[2].factors.front() == 1);
  CHECK(starts[2].factors.back() == doctest::Approx(4).epsilon(1e-12));
  for (const FactorList& start : starts) CHECK(std::ranges::is_sorted(start.factors));
  CHECK(factor_starts(1, 10000, 64, 256).size() == 4);  // ntk needs two pairs
}

TEST_CASE("longrope search: better than every start, within bounds, never falling, the same by seed") {
  FactorSearch search{.extension = 4, .population = 32, .rounds = 30};
  const FactorSearchResult result = found_factors(search);
  for (const FactorList& start : result.starts) {
    CHECK(start.loss == factor_distance(start.factors));
    CHECK(result.best.loss < 0.2 * start.loss);
  }
  CHECK(result.best.loss == factor_distance(result.best.factors));
  CHECK(std::ranges::is_sorted(result.best.factors));
  CHECK(result.best.factors.front() >= 1);
  CHECK(result.best.factors.back() <= 5);
  CHECK(result.best_by_round.size() == 31);
  CHECK(std::ranges::is_sorted(result.best_by_round, std::greater<>()));
  CHECK(result.tried == 32 + 30 * 16);
  CHECK(found_factors(search).best.factors == result.best.factors);
  search.seed = 1;
  CHECK(found_factors(search).best.factors != result.best.factors);
}

TEST_CASE("longrope search: lists without a loss are the worst; what makes no search is refused") {
  const auto loss = [](std::span<const double> factors) {
    return factors.back() > 1 ? std::numeric_limits<double>::quiet_NaN() : 1.0;
  };
  const FactorSearchResult result = search_factors({.extension = 4, .population = 4, .rounds = 1},
                                                   factor_starts(factor_pairs, 10000, 64, 256), loss);
  CHECK(result.best.name == "none");
  CHECK(std::isinf(result.starts[1].loss));
  CHECK_THROWS_AS(found_factors({.extension = 4, .population = 3}), ConfigError);
  CHECK_THROWS_AS(found_factors({.extension = 0.5}), ConfigError);
  CHECK_THROWS_AS(found_factors({.extension = 4, .rounds = -1}), ConfigError);
}

TEST_CASE("longrope: factors found on a trained model serve evaluate and generate" *
          needs({"rope", "none"})) {
  const Shell shell;
  REQUIRE(shell("$tapeline train $small --out run --quiet").code == 0);
  const std::string ask =
      "$tapeline longrope run --target 4x --tokens 256 --population 8 --rounds 2 --quiet ";
  const Ran first = shell(ask + "--out factors.toml");
  CAPTURE(first.err);
  REQUIRE(first.code == 0);
  CHECK(contains(first.out, "found"));
  CHECK(contains(first.out, "factors.toml"));
  const std::string toml = read_file(shell.folder() / "factors.toml");
  CHECK(contains(toml, "[positional.rope]\nscaling = \"longrope\"\noriginal_length = 16\nlong_factors = ["));
  CHECK(contains(shell(ask).out, toml.substr(toml.find("[positional"))));  // the same once more
  const auto json = nlohmann::json::parse(shell(ask + "--json --seed 5").out);
  CHECK(json.at("long_factors").size() == 4);  // a head width of 8
  CHECK(json.at("tried") == 8 + 2 * 4);
  for (const auto& [name, nll] : json.at("starts").items()) CHECK(json.at("nll") <= nll);

  const auto evaluated = nlohmann::json::parse(
      shell("$tapeline evaluate run --lengths 4x --json --quiet --positional factors.toml").out);
  CHECK(evaluated.at("positional_changes").size() == 3);
  CHECK(shell("$tapeline generate run --prompt let --tokens 40 --positional factors.toml --quiet").code == 0);
  check_refused(shell("$tapeline longrope run --target 1x"), 2, {"--target 1x is 16 tokens", "16"});
  check_refused(shell("$tapeline longrope run --target 100000"), 2, {"--target 100000", "--text"});
  REQUIRE(shell("$tapeline train $small --set positional.kind=none --set train.steps=1 --out other --quiet")
              .code == 0);
  check_refused(shell("$tapeline longrope other --target 2x"), 2, {"none positions", "rope"});
}
