#include <doctest/doctest.h>

#include "core/ops.h"
#include "layers/positional/alibi.h"
#include "layers/positional/rope.h"
#include "layers/positional/sinusoidal.h"
#include "tests/support/golden.h"
#include "tests/support/reference.h"

using namespace tapeline;

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

Positions rows_of(const std::vector<Index>& positions) {
  Positions rows{.begin = 0, .count = static_cast<Index>(positions.size())};
  rows.axis[0] = positions;
  return rows;
}

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

void check_rotated(const std::string& name, const Shape& shape, const std::vector<Index>& positions) {
  const auto& expected = golden_case("rope", name);
  const auto& parameters = expected.at("params");
  const RotaryPositions encoding(
      {.head_width = shape.last(),
       .rotated_width = parameters.at("rotary_dim"),
       .base = parameters.at("base"),
       .pairing = parameters.at("pairing") == "half" ? Pairing::half : Pairing::interleaved});
  for (const std::string array : {"q", "k"}) {
    const Storage x = golden_storage(golden_case("rope", "rot_inputs"), array, shape);
    Arena arena;
    GradientPool pool;
    Tape tape(arena, pool, Recording::off);
    Pass pass(tape);
    const Positions rows = rows_of(positions);
    const Rotation turn = encoding.rotation(pass, Role::query, rows, {rows, rows}, 0);
    check_golden(name, rotate(tape.constant(x.tensor()), turn).value(), expected, array);
  }
}

/// x [1, 1, 1, D] turned to `position`.
std::vector<double> turned(const RotaryPositions& encoding, const std::vector<double>& x, Index position) {
  Arena arena;
  GradientPool pool;
  Tape tape(arena, pool, Recording::off);
  Pass pass(tape);
  const Positions rows{.begin = position, .count = 1};
  const Rotation turn = encoding.rotation(pass, Role::key, rows, {rows, rows}, 0);
  const Storage from = filled_storage({1, 1, 1, static_cast<Index>(x.size())}, x);
  return numbers_of(rotate(tape.constant(from.tensor()), turn).value());
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double total = 0;
  for (std::size_t i = 0; i < a.size(); ++i) total += a[i] * b[i];
  return total;
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

TEST_CASE("golden tables: rope frequencies") {
  for (const char* name :
       {"freq_default_16", "freq_default_64", "freq_default_128", "freq_default_128_base500000"}) {
    const auto& expected = golden_case("rope", name);
    const Index width = expected.at("params").at("rotary_dim");
    const RotaryPositions encoding(
        {.head_width = width, .rotated_width = width, .base = expected.at("params").at("base")});
    const std::vector<double> numbers = golden_numbers(expected, "inv_freq");
    CHECK(largest_difference(encoding.frequencies(), numbers) < 1e-15);
  }
}

TEST_CASE("golden tables: rope cosines and sines at far positions, and on the unit circle") {
  const auto& expected = golden_case("rope", "table_16_far");
  const RotaryPositions encoding({.head_width = 16, .rotated_width = 16});
  const std::vector<Index> positions = golden_indices(expected, "positions");
  Arena arena;
  GradientPool pool;
  Tape tape(arena, pool, Recording::off);
  Pass pass(tape);
  const Positions rows = rows_of(positions);
  const Rotation turn = encoding.rotation(pass, Role::query, rows, {rows, rows}, 0);
  check_golden("rope", turn.cosine.value(), expected, "cos", Golden::value, true);
  check_golden("rope", turn.sine.value(), expected, "sin", Golden::value, true);
  const std::vector<double> cosine = numbers_of(turn.cosine.value()), sine = numbers_of(turn.sine.value());
  for (std::size_t i = 0; i < cosine.size(); ++i) {
    CHECK(cosine[i] * cosine[i] + sine[i] * sine[i] == doctest::Approx(1).epsilon(1e-6));
  }
}

TEST_CASE("golden tables: rotated heads, both pairings, whole and partial") {
  const std::vector<Index> positions = golden_indices(golden_case("rope", "rot_inputs"), "positions");
  for (const char* name : {"rot_half_r16", "rot_half_r8", "rot_interleaved_r16", "rot_interleaved_r8"}) {
    check_rotated(name, {1, 2, 6, 16}, positions);
  }
}

TEST_CASE("rope: pairings, precision, norm, and dot products that depend on the difference only") {
  const RotaryPositions neighbours({.head_width = 4, .rotated_width = 4, .pairing = Pairing::interleaved});
  const RotaryPositions halves({.head_width = 4, .rotated_width = 4});
  CHECK(largest_difference(turned(neighbours, {1, 2, 3, 4}, 1), {-1.142640, 1.922076, 2.959851, 4.029800}) <
        1e-6);
  CHECK(largest_difference(turned(halves, {1, 2, 3, 4}, 1), {-1.984111, 1.959901, 2.462378, 4.019800}) <
        1e-6);

  const RotaryPositions narrow({.head_width = 2, .rotated_width = 2});
  for (const Index position : {5, 39, 3, 5}) {  // by position, whatever was asked for before
    const double angle = static_cast<double>(position);
    CHECK(largest_difference(turned(narrow, {1, 0}, position), {std::cos(angle), std::sin(angle)}) < 1e-6);
  }

  const RotaryPositions wide({.head_width = 32, .rotated_width = 32});
  std::vector<double> unit(32, 0.0);
  unit[1] = 1;  // pair 1: features 1 and 17
  const std::vector<double> far = turned(wide, unit, 1857);
  CHECK(far[1] == doctest::Approx(.306693).epsilon(1e-5));
  CHECK(far[17] == doctest::Approx(.951809).epsilon(1e-5));

  const std::vector<double> q = numbers_of(random_storage({32}, "q").tensor());
  const std::vector<double> k = numbers_of(random_storage({32}, "k").tensor());
  CHECK(dot(turned(wide, q, 1024), turned(wide, q, 1024)) == doctest::Approx(dot(q, q)).epsilon(1e-6));
  CHECK(dot(turned(wide, q, 1030), turned(wide, k, 1024)) ==
        doctest::Approx(dot(turned(wide, q, 6), k)).epsilon(1e-4));
}

TEST_CASE("golden tables: alibi slopes for every head count") {
  Index cases = 0;
  for (const auto& [name, expected] : golden_cases("bias").items()) {
    if (name.rfind("alibi_slopes_", 0) != 0) continue;
    ++cases;
    const std::vector<double> numbers = golden_numbers(expected, "slopes");
    CHECK(largest_difference(alibi_slopes(expected.at("params").at("heads")), numbers) < 1e-14);
  }
  CHECK(cases == 22);
  const std::vector<double> six = {.25, .0625, .015625, .00390625, .5, .125};
  CHECK(largest_difference(alibi_slopes(6), six) < 1e-14);
}

TEST_CASE("golden tables: alibi biases, seen through a softmax over zero scores") {
  const Index heads = 4, length = 6;
  const Storage zero({1, heads, length, length});
  Storage unit({1, heads, length, length});  // v = identity: the output is the row of weights
  for (Index h = 0; h < heads; ++h) {
    for (Index i = 0; i < length; ++i) unit.data()[(h * length + i) * length + i] = 1;
  }
  ParameterStore store;
  const AlibiPositions encoding(store.root(), {.heads = heads, .head_width = length});
  for (const bool causal : {true, false}) {
    const auto& expected = golden_case("bias", causal ? "alibi_bias_causal_4x6" : "alibi_bias_symmetric_4x6");
    std::vector<double> weights = golden_numbers(expected, "bias");
    for (Index row = 0; row < heads * length; ++row) {
      const Index last = causal ? row % length : length - 1;
      double total = 0;
      for (Index j = 0; j < length; ++j) {
        double& w = weights[static_cast<std::size_t>(row * length + j)];
        w = j <= last ? std::exp(w) : 0;
        total += w;
      }
      for (Index j = 0; j < length; ++j) weights[static_cast<std::size_t>(row * length + j)] /= total;
    }
    Arena arena;
    GradientPool pool;
    Tape tape(arena, pool, Recording::off);
    Pass pass(tape);
    const Positions rows = encoding.positions(pass, 0, length);
    ScoreTerms terms = encoding.score_terms(pass, {rows, rows}, 0);
    terms.mask.causal = causal;
    const Var nothing = tape.constant(zero.tensor());
    const Var out = attention(nothing, nothing, tape.constant(unit.tensor()), terms);
    check_golden("alibi bias", out.value().data, out.value().size(), weights);
  }
}
