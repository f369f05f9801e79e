#include <doctest/doctest.h>

#include "layers/positional/sinusoidal.h"
#include "tests/layers/tiny_model.h"
#include "tests/support/golden.h"
#include "tests/support/reference.h"

using namespace tapeline;

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

SinusoidLayout layout_of(const std::string& name) {
  if (name == "half") return SinusoidLayout::half;
  if (name == "t2t") return SinusoidLayout::t2t;
  return SinusoidLayout::interleaved;
}

/// One row of sinusoids.
std::vector<double> sinusoid(Index width, Index position, SinusoidLayout layout) {
  const SinusoidalPositions encoding({.width = width, .head_width = 1, .layout = layout});
  const Storage table({2, width});  // the second row must stay as it is
  table.data()[width] = 7;
  const Tensor row{{1, width}, table.data()};
  encoding.fill({.begin = position, .count = 1}, row);
  CHECK(table.data()[width] == 7);
  return numbers_of(row);
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION

TEST_CASE("golden tables: sinusoids in every layout, odd width, far positions") {
  for (const char* name : {"sin_interleaved_16", "sin_half_16", "sin_t2t_half_16", "sin_interleaved_odd_7",
                           "sin_interleaved_64_far"}) {
    const auto& expected = golden_case("tables", name);
    const Index width = expected.at("params").at("width");
    const SinusoidalPositions encoding(
        {.width = width, .head_width = 1, .layout = layout_of(expected.at("params").at("layout"))});
    const Index count = expected.at("arrays").at("pe").at("shape").at(0);
    Positions rows{.begin = 0, .count = count};
    std::vector<Index> positions;
    const bool far = expected.at("arrays").contains("positions");
    if (far) positions = golden_indices(expected, "positions");
    if (far) rows = rows_of(positions);
    const Storage table({count, width});
    encoding.fill(rows, table.tensor());
    check_golden(name, table.tensor(), expected, "pe", Golden::value, far);
  }
}

TEST_CASE("sinusoid: odd widths drop the last cosine; t2t leaves a last feature of 0; width 1 and 2 work") {
  const std::vector<double> odd = sinusoid(5, 1, SinusoidLayout::interleaved);
  CHECK(largest_difference(odd, {.841471, .540302, .025116, .999685, .000631}) < 1e-5);
  const std::vector<double> halves = sinusoid(5, 1, SinusoidLayout::half);
  CHECK(largest_difference(halves, {.841471, .025116, .000631, .540302, .999685}) < 1e-5);
  const std::vector<double> t2t = sinusoid(5, 1, SinusoidLayout::t2t);
  CHECK(largest_difference(t2t, {.841471, 1e-4, .540302, 1, 0}) < 1e-5);
  CHECK(largest_difference(sinusoid(1, 1, SinusoidLayout::interleaved), {.841471}) < 1e-5);
  CHECK(largest_difference(sinusoid(2, 1, SinusoidLayout::t2t), {.841471, .540302}) < 1e-5);
  // Looked up by position, not by the length of an earlier call.
  CHECK(largest_difference(sinusoid(2, 39, SinusoidLayout::interleaved), {std::sin(39.0), std::cos(39.0)}) <
        1e-5);
}

TEST_CASE("sinusoid: at scale auto the rows have the root mean square of fresh token rows") {
  const SinusoidalPositions encoding({.width = 64, .head_width = 1, .factor = sinusoid_auto_factor()});
  const Storage table({50, 64});
  encoding.fill({.begin = 0, .count = 50}, table.tensor());
  double squares = 0;
  for (const double number : numbers_of(table.tensor())) squares += number * number;
  CHECK(std::sqrt(squares / (50 * 64)) == doctest::Approx(0.02).epsilon(1e-6));
}

TEST_CASE("positions: without blocks' help, sinusoids and token rows start at equal strength") {
  ModelPlan plan = tiny_plan("sinusoidal");
  plan.model.width = 64;
  const Transformer model(plan);
  Arena arena;
  GradientPool pool;
  Tape tape(arena, pool, Recording::off);
  Pass pass(tape);
  const Storage zero({1, 32, 64});
  const Var rows =
      model.encoding().add_to_input(pass, tape.constant(zero.tensor()), {.begin = 0, .count = 32});
  double squares = 0;
  for (const double number : numbers_of(rows.value())) squares += number * number;
  CHECK(std::sqrt(squares / (32 * 64)) == doctest::Approx(0.02).epsilon(1e-5));
}
