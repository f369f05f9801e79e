#include <doctest/doctest.h>

#include "core/ops.h"
#include "layers/positional/rope.h"
#include "tests/layers/cached_check.h"
#include "tests/support/golden.h"
#include "tests/support/reference.h"

using namespace tapeline;

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

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

/// Rotary positions whose keys are cached unturned.
class RawRope final : public PositionalEncoding {
 public:
  explicit RawRope(Index head_width)
      : PositionalEncoding(head_width), rope_({.head_width = head_width, .rotated_width = head_width}) {}
  Rotation rotation(Pass& pass, Role role, const Positions& rows, const PassPositions& all,
                    Index layer) const override {
    return rope_.rotation(pass, role, rows, all, layer);
  }
  CachedKeys cached_keys() const override { return CachedKeys::raw; }

 private:
  RotaryPositions rope_;
};

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION

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

TEST_CASE("cache: keys kept raw and turned anew each pass") {
  for (const Index window : {0, 5}) {
    ModelPlan plan = tiny_plan("rope");
    plan.positional.keys = {.causal = true, .window = window, .sinks = window / 3};
    Transformer model(
        plan, [](const EncodingContext& context) { return std::make_unique<RawRope>(context.head_width); });
    stir(model.parameters());
    check_cached("raw, window " + std::to_string(window), model);
    Transformer turned(plan);
    stir(turned.parameters());
    const std::vector<Token> ids = tiny_tokens(36);
    CHECK(largest_difference(full_logits(turned, ids), cached_logits(model, ids, {5})) < cached_limit());
  }
}
