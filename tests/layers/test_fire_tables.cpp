#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/error.h"
#include "layers/positional/fire_tables.h"
#include "tests/support/gradcheck.h"

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

std::vector<Storage> storages(const std::vector<std::vector<double>>& numbers) {
  std::vector<Storage> all;
  for (const auto& some : numbers) all.push_back(filled_storage({static_cast<Index>(some.size())}, some));
  return all;
}

/// The hidden layer of the tests: inner weights and biases [m], output weights [H, m] and biases [H].
struct Network {
  std::vector<double> inner_weight, inner_bias, output_weight, output_bias;

  std::vector<Storage> inputs() const {
    const auto units = static_cast<Index>(inner_weight.size()),
               heads = static_cast<Index>(output_bias.size());
    std::vector<Storage> all = storages({inner_weight, inner_bias});
    all.push_back(filled_storage({heads, units}, output_weight));
    all.push_back(filled_storage({heads}, output_bias));
    return all;
  }
};

/// Units that go on, go off, lie past 1, and are on or off throughout.
Network regular_network() {
  Network network{{0.9, -0.7, 0.4, -0.8, 1.3, 0.6, -0.5}, {-0.3, 0.5, -0.11, 0.2, -2.6, 0.2, -0.4}, {}, {}};
  for (int n = 0; n < 21; ++n) network.output_weight.push_back(std::sin(3.7 * n + 1));
  network.output_bias = {0.3, -0.2, 0.05};
  return network;
}

PiecewiseLinear build(Tape& tape, const std::vector<Storage>& inputs) {
  return piecewise_linear(tape.variable(inputs[0].tensor()), tape.variable(inputs[1].tensor()),
                          tape.variable(inputs[2].tensor()), tape.variable(inputs[3].tensor()));
}

/// The segment of x.
Index segment_of(const PiecewiseLinear& function, Real x) {
  const Real* const cuts = function.cuts.value().data;
  return std::count_if(cuts, cuts + function.cuts.value().size(), [x](Real cut) { return cut <= x; });
}

TEST_CASE("fire tables: numerators, by loops and by differences, for a kappa of either sign") {
  for (const double kappa : {0.1, -0.75, 30.0}) {
    std::vector<Storage> inputs = storages({{kappa}});
    gradcheck("log_distances", inputs,
              [](Tape&, std::span<const Var> vars) { return log_distances(vars[0], -9, 25); });
    TestTape tape(Recording::off);
    const std::vector<double> found =
        numbers_of(log_distances(tape->constant(inputs[0].tensor()), -9, 25).value());
    std::vector<double> expected;
    for (int d = -9; d < 16; ++d) expected.push_back(std::log(std::abs(kappa * d) + 1));
    CHECK(largest_difference(found, expected) < rounding());
  }
}

TEST_CASE("fire tables: denominators, by loops and by differences, on both sides of the threshold") {
  const std::vector<Index> explicit_positions = {0, 2, 5, 6, 11, 40};
  Positions gaps{.begin = 0, .count = 6};
  gaps.axis[0] = explicit_positions;
  const double length = 7;
  for (const Positions& rows : {Positions{.begin = 3, .count = 12}, gaps}) {
    for (const auto& [kappa, mu] : {std::pair{0.1, 0.9}, {-0.75, 1.1}, {0.4, -1.3}}) {
      std::vector<Storage> inputs = storages({{kappa}, {mu}});
      gradcheck("log_thresholds", inputs, [&](Tape&, std::span<const Var> vars) {
        return log_thresholds(vars[0], vars[1], length, rows);
      });
      TestTape tape(Recording::off);
      const std::vector<double> found = numbers_of(
          log_thresholds(tape->constant(inputs[0].tensor()), tape->constant(inputs[1].tensor()), length, rows)
              .value());
      std::vector<double> expected;
      for (Index row = 0; row < rows.count; ++row) {
        const double largest = std::max(static_cast<double>(rows.at(row)), std::abs(mu * length));
        expected.push_back(std::log(std::abs(kappa * largest) + 1) + 1e-6);
      }
      CHECK(largest_difference(found, expected) < rounding());
    }
  }
}

TEST_CASE("fire tables: a row at the threshold gives it half of its gradient, a kappa of 0 gets none") {
  const auto gradients = [](double kappa, Index position) {
    TestTape tape;
    const std::vector<Storage> inputs = storages({{kappa}, {1.0}, {1.0}});
    const Var by_kappa = tape->variable(inputs[0].tensor()), by_mu = tape->variable(inputs[1].tensor());
    const Var row = log_thresholds(by_kappa, by_mu, 8, {.begin = position, .count = 1});
    tape->backward(weighted_sum(row, inputs[2].tensor()));
    return std::pair(static_cast<double>(by_kappa.grad().data[0]), static_cast<double>(by_mu.grad().data[0]));
  };
  const double whole = 8 * 0.5 / (0.5 * 8 + 1);
  CHECK(gradients(0.5, 7).second == doctest::Approx(whole));
  CHECK(gradients(0.5, 8).second == doctest::Approx(whole / 2));
  CHECK(gradients(0.5, 9).second == 0);
  CHECK(gradients(0.5, 8).first == doctest::Approx(8.0 / 5));
  CHECK(gradients(0, 8) == std::pair(0.0, 0.0));
}

TEST_CASE("fire tables: the segments are the network, at every x from 0 on") {
  Network odd = regular_network();  // units with a weight or a bias of 0
  odd.inner_weight = {0, 0, 0, 0.5, -0.5, 0, 1.5};
  odd.inner_bias = {0.4, -0.4, 0, 0, 0, 0.3, -0.6};
  for (const Network& network : {regular_network(), odd}) {
    const std::vector<Storage> inputs = network.inputs();
    TestTape tape(Recording::off);
    const PiecewiseLinear function = build(*tape, inputs);
    const std::size_t units = network.inner_weight.size();
    CHECK(std::is_sorted(function.cuts.value().data, function.cuts.value().data + units));
    for (int step = 0; step <= 300; ++step) {
      const auto x = static_cast<Real>(step) / 100;
      const Index segment = segment_of(function, x);
      for (Index h = 0; h < 3; ++h) {
        double expected = static_cast<double>(inputs[3].data()[h]);
        for (std::size_t u = 0; u < units; ++u) {
          const double hidden = static_cast<double>(inputs[0].data()[u] * x + inputs[1].data()[u]);
          const auto weight = static_cast<double>(inputs[2].data()[static_cast<std::size_t>(h) * units + u]);
          expected += weight * std::max(hidden, 0.0);
        }
        const Index place = h * (static_cast<Index>(units) + 1) + segment;
        const auto found = static_cast<double>(function.slopes.value().data[place] * x +
                                               function.intercepts.value().data[place]);
        CHECK(std::abs(found - expected) < rounding());
      }
    }
  }
}

TEST_CASE("fire tables: gradients of slopes and intercepts against central differences") {
  std::vector<Storage> inputs = regular_network().inputs();
  for (const bool slopes : {true, false}) {
    gradcheck(slopes ? "slopes" : "intercepts", inputs, [&](Tape&, std::span<const Var> vars) {
      const PiecewiseLinear function = piecewise_linear(vars[0], vars[1], vars[2], vars[3]);
      return slopes ? function.slopes : function.intercepts;
    });
  }
}

TEST_CASE("fire tables: at x = 0 a unit without bias is off, as relu has it") {
  TestTape tape;
  const std::vector<Storage> inputs = Network{{0.5, -0.5, 0.5}, {0, 0, 0.1}, {1, 1, 1}, {0}}.inputs();
  const PiecewiseLinear function = build(*tape, inputs);
  const Index at_zero = segment_of(function, 0);
  CHECK(at_zero == 0);
  CHECK(segment_of(function, Real{1e-6}) == 1);
  CHECK(function.slopes.value().data[0] == Real{0.5});
  CHECK(function.slopes.value().data[1] == 1);
}

TEST_CASE("fire tables: a NaN among the weights comes through") {
  // The first unit goes on at its cut, the second off; the last is off throughout.
  for (const auto& [part, place] :
       {std::pair<std::size_t, Index>{0, 0}, {0, 1}, {0, 6}, {1, 0}, {1, 1}, {1, 6}, {2, 3}, {3, 0}}) {
    CAPTURE(part);
    CAPTURE(place);
    const std::vector<Storage> inputs = regular_network().inputs();
    inputs[part].data()[place] = std::numeric_limits<Real>::quiet_NaN();
    TestTape tape(Recording::off);
    const PiecewiseLinear function = build(*tape, inputs);
    const auto has_nan = [](Var x) {
      return std::ranges::any_of(numbers_of(x.value()), [](double number) { return std::isnan(number); });
    };
    CHECK((has_nan(function.slopes) || has_nan(function.intercepts)));
  }
}

TEST_CASE("fire tables: operands that do not fit are refused by name") {
  TestTape tape(Recording::off);
  const Storage two({2}), one({1}), matrix({3, 2});
  const Var pair = tape->constant(two.tensor()), number = tape->constant(one.tensor());
  CHECK_THROWS_WITH_AS(log_distances(pair, 0, 4), "log_distances: kappa is [2]; expected [1]", ShapeError);
  CHECK_THROWS_WITH_AS(log_thresholds(number, {}, 8, {.begin = 0, .count = 4}),
                       "log_thresholds: mu is absent; expected [1]", ShapeError);
  CHECK_THROWS_WITH_AS(
      piecewise_linear(pair, pair, tape->constant(matrix.tensor()), pair),
      "piecewise_linear: inner weight [2], inner bias [2], output weight [3, 2], output bias [2]; "
      "expected [units], [units], [heads, units], [heads]",
      ShapeError);
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION
