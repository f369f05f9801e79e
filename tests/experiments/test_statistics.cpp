#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "experiments/statistics/bootstrap.h"
#include "experiments/statistics/estimate.h"
#include "experiments/statistics/student.h"
#include "experiments/statistics/verdict.h"

namespace tapeline {
namespace {

/// Computed by another program; tests/data/statistics/make_reference.py says how.
const nlohmann::json& statistics_reference() {
  static const nlohmann::json reference =
      nlohmann::json::parse(std::ifstream(std::string(TAPELINE_TEST_DATA) + "/statistics/reference.json"));
  return reference;
}

std::vector<SegmentLoss> blocks_of(const nlohmann::json& json) {
  std::vector<SegmentLoss> blocks;
  for (const nlohmann::json& block : json) blocks.push_back({block.at(0), block.at(1)});
  return blocks;
}

TEST_CASE("statistics: quantiles of Student's t are those of its finite sums, right to 1e-9") {
  for (const nlohmann::json& row : statistics_reference().at("quantiles")) {
    const double expected = row.at("quantile"), probability = row.at("probability");
    const Index degrees = row.at("degrees");
    CAPTURE(degrees);
    CAPTURE(probability);
    CHECK(std::abs(student_quantile(probability, degrees) / expected - 1) < 1e-9);
    CHECK(student_quantile(1 - probability, degrees) == doctest::Approx(-expected).epsilon(1e-9));
    CHECK(student_upper_tail(expected, degrees) == doctest::Approx(1 - probability).epsilon(1e-8));
  }
  CHECK(student_quantile(0.5, 7) == doctest::Approx(0));
  CHECK(std::abs(student_quantile(0.975, 10'000'000) - 1.959964) < 1e-5);  // the normal one
  CHECK(normal_probability(1.959963985) == doctest::Approx(0.975).epsilon(1e-9));
  CHECK_THROWS_AS(student_quantile(0.975, 0), ShapeError);
  CHECK_THROWS_AS(student_quantile(1, 3), ShapeError);
  CHECK_THROWS_AS(student_quantile(std::nan(""), 3), ShapeError);
}

TEST_CASE("statistics: t-intervals against another program; one value has none") {
  for (const nlohmann::json& row : statistics_reference().at("intervals")) {
    const Estimate found = estimate(row.at("values").get<std::vector<double>>());
    CHECK(found.mean == doctest::Approx(row.at("mean").get<double>()).epsilon(1e-12));
    CHECK(found.half_width == doctest::Approx(row.at("half_width").get<double>()).epsilon(1e-9));
    CHECK(found.median == doctest::Approx(row.at("median").get<double>()).epsilon(1e-12));
    CHECK(found.upper() - found.mean == doctest::Approx(found.mean - found.lower()));
  }
  CHECK(std::isnan(estimate(std::vector{2.5}).half_width));
  CHECK(std::isnan(estimate(std::vector{2.5}).lower()));
  CHECK(std::isnan(estimate(std::vector<double>{}).mean));
  const Estimate wide = estimate(std::vector{3.0, 1.0, 20.0});
  CHECK(wide.median == 3);
  CHECK(wide.lowest == 1);
  CHECK(wide.highest == 20);
}

TEST_CASE("statistics: paired by seed, over the seeds that both have; what is common falls out") {
  const BySeed a = {{0, 1.6}, {1, 5.6}, {2, 9.6}, {7, 3}}, b = {{0, 1.5}, {1, 5.5}, {2, 9.5}, {8, 100}};
  const Estimate found = paired_difference(a, b);
  CHECK(found.count == 3);
  CHECK(found.mean == doctest::Approx(0.1));
  CHECK(found.half_width < 1e-12);
  CHECK(estimate_over_seeds(a).half_width > 1);
  CHECK(paired_difference(a, {{9, 1}}).count == 0);
}

TEST_CASE("statistics: bootstrap intervals against another program's random numbers") {
  for (const nlohmann::json& row : statistics_reference().at("bootstraps")) {
    std::vector<std::vector<SegmentLoss>> blocks;
    std::vector<BootstrapTerm> terms;
    for (const nlohmann::json& term : row.at("terms")) blocks.push_back(blocks_of(term));
    for (std::size_t i = 0; i < blocks.size(); ++i) terms.push_back({row.at("weights").at(i), blocks[i]});
    const double lower = row.at("lower"), upper = row.at("upper");
    const BootstrapInterval many = bootstrap(terms, random_key(0, "test"), 100'000);
    CHECK(many.blocks == static_cast<Index>(blocks.front().size()));
    CHECK(many.mean == doctest::Approx(row.at("mean").get<double>()).epsilon(1e-9));
    CHECK(std::abs(many.lower - lower) < 0.015 * (upper - lower));
    CHECK(std::abs(many.upper - upper) < 0.015 * (upper - lower));
    const BootstrapInterval usual = bootstrap(terms, random_key(0, "test"));
    CHECK(std::abs(usual.lower - lower) < 0.1 * (upper - lower));
    CHECK(std::abs(usual.upper - upper) < 0.1 * (upper - lower));
  }
}

TEST_CASE("statistics: the bootstrap draws the same blocks for all terms, and the same ones again") {
  std::vector<SegmentLoss> low, high;
  for (Index b = 0; b < 20; ++b) {
    const double total = 100.0 + static_cast<double>(b * b % 7) * 30 + 1.37 * static_cast<double>(b);
    low.push_back({total, 100});
    high.push_back({total + 50, 100});
  }
  const RandomKey key = random_key(3, "test");
  const BootstrapInterval apart = bootstrap({{1, high}}, key),
                          paired = bootstrap({{1, high}, {-1, low}}, key);
  CHECK(apart.upper - apart.lower > 0.1);
  CHECK(paired.mean == doctest::Approx(0.5));
  CHECK(paired.upper - paired.lower < 1e-12);
  CHECK(bootstrap({{1, high}}, key).lower == apart.lower);
  CHECK(bootstrap({{1, high}}, random_key(4, "test")).lower != apart.lower);
  // From 8 blocks on; the mean of fewer is there all the same.
  const std::vector<SegmentLoss> seven(high.begin(), high.begin() + 7), eight(high.begin(), high.begin() + 8);
  CHECK(std::isnan(bootstrap({{1, seven}}, key).lower));
  CHECK(std::isnan(bootstrap({{1, seven}}, key).upper));
  CHECK(std::isfinite(bootstrap({{1, seven}}, key).mean));
  CHECK(bootstrap({{1, seven}}, key).blocks == 7);
  CHECK(bootstrap({{1, eight}}, key).lower < bootstrap({{1, eight}}, key).upper);
  // Weighted by tokens: a segment of many counts more.
  const std::vector<SegmentLoss> uneven = {{10, 10}, {300, 100}};
  CHECK(bootstrap({{1, uneven}}, key).mean == doctest::Approx(310.0 / 110));
}

TEST_CASE("statistics: the bootstrap of one block has no interval, of losses that are no numbers neither") {
  const std::vector<SegmentLoss> one = {{150, 100}}, bad = {{150, 100}, {std::nan(""), 100}};
  const BootstrapInterval found = bootstrap({{1, one}}, random_key(0, "test"));
  CHECK(found.mean == doctest::Approx(1.5));
  CHECK(std::isnan(found.lower));
  CHECK(std::isnan(bootstrap({{1, bad}}, random_key(0, "test")).upper));
  CHECK(std::isnan(bootstrap({{1, {}}}, random_key(0, "test")).mean));
  CHECK_THROWS_AS(bootstrap({{1, one}, {-1, bad}}, random_key(0, "test")), ShapeError);
  CHECK_THROWS_AS(bootstrap({}, random_key(0, "test")), ShapeError);
}

TEST_CASE("statistics: a verdict holds, fails or is open by the whole of the interval") {
  const Verdict holds = Verdict::holds, fails = Verdict::fails, open = Verdict::inconclusive;
  const auto verdict = [](double lower, double upper, const Demand& demand) {
    return judge_interval(lower, upper, demand);
  };
  CHECK(verdict(0.9, 1.0, Demand::at_most(1)) == holds);
  CHECK(verdict(0.9, 1.0, Demand::below(1)) == open);
  CHECK(verdict(0.9, 0.99, Demand::below(1)) == holds);
  CHECK(verdict(1.0, 1.1, Demand::at_most(1)) == open);
  CHECK(verdict(1.0, 1.1, Demand::below(1)) == fails);
  CHECK(verdict(1.01, 1.1, Demand::at_most(1)) == fails);
  CHECK(verdict(1.5, 1.7, Demand::at_least(1.5)) == holds);
  CHECK(verdict(1.4, 1.7, Demand::at_least(1.5)) == open);
  CHECK(verdict(1.4, 1.5, Demand::at_least(1.5)) == open);
  CHECK(verdict(1.4, 1.49, Demand::at_least(1.5)) == fails);
  CHECK(verdict(-0.1, 0.0, Demand::above(0)) == fails);
  CHECK(verdict(0.0, 0.1, Demand::above(0)) == open);
  CHECK(verdict(0.04, 0.1, Demand::within(0.03, 0.15)) == holds);
  CHECK(verdict(0.02, 0.1, Demand::within(0.03, 0.15)) == open);
  CHECK(verdict(0.02, 0.2, Demand::within(0.03, 0.15)) == open);
  CHECK(verdict(0.01, 0.02, Demand::within(0.03, 0.15)) == fails);
  CHECK(verdict(0.16, 0.2, Demand::within(0.03, 0.15)) == fails);
  CHECK(verdict(std::nan(""), std::nan(""), Demand::at_most(1)) == open);
  CHECK(joint_verdict({holds, holds}) == holds);
  CHECK(joint_verdict({holds, open}) == open);
  CHECK(joint_verdict({open, fails, holds}) == fails);
  CHECK(verdict_text(holds) + verdict_text(fails) + verdict_text(open) == "holdsfailsinconclusive");
  CHECK(Demand::at_most(1.02).text(2) == "≤ 1.02");
  CHECK(Demand::above(0).text(2) == "> 0.00");
  CHECK(Demand::within(0.03, 0.15).text(2) == "in 0.03 to 0.15");
}

}  // namespace
}  // namespace tapeline
