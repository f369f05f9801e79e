#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <vector>

#include "core/error.h"
#include "core/ops.h"
#include "tests/support/gradcheck.h"
#include "tests/support/reference.h"
#include "tests/support/rotation_tables.h"

using namespace tapeline;

TEST_CASE("rotate: both pairings give the known numbers") {
  const Storage x = filled_storage({1, 1, 2, 4}, {1, 2, 3, 4, 1, 2, 3, 4});
  const RotationTables tables(2, 4, 1e4);
  TestTape tape;
  const Var v = tape->constant(x.tensor());
  const std::vector<double> adjacent =
      numbers_of(rotate(v, tables.rotation(*tape, Pairing::interleaved)).value());
  const std::vector<double> halves = numbers_of(rotate(v, tables.rotation(*tape, Pairing::half)).value());
  const std::vector<double> expected_adjacent{1, 2, 3, 4, -1.142640, 1.922076, 2.959851, 4.029800};
  const std::vector<double> expected_halves{1, 2, 3, 4, -1.984111, 1.959901, 2.462378, 4.019800};
  CHECK(largest_difference(adjacent, expected_adjacent) < 1e-6);
  CHECK(largest_difference(halves, expected_halves) < 1e-6);
}

TEST_CASE("rotate: norms stay, and the product of a query and a key depends on their distance only") {
  const RotationTables tables(12, 8, 100);
  Storage x({1, 1, 12, 8});
  const Storage row = random_storage({8}, "row");
  for (Index t = 0; t < 12; ++t) std::copy_n(row.data(), 8, x.data() + 8 * t);
  for (const Pairing pairing : {Pairing::half, Pairing::interleaved}) {
    TestTape tape;
    const Tensor y = rotate(tape->constant(x.tensor()), tables.rotation(*tape, pairing)).value();
    const auto product = [&](Index i, Index j) {
      double total = 0;
      for (Index d = 0; d < 8; ++d)
        total += static_cast<double>(y.data[8 * i + d]) * static_cast<double>(y.data[8 * j + d]);
      return total;
    };
    for (Index t = 0; t + 5 < 12; ++t) {
      CHECK(product(t, t) == doctest::Approx(product(0, 0)).epsilon(10 * rounding()));
      CHECK(product(t + 5, t) == doctest::Approx(product(5, 0)).epsilon(10 * rounding()));
    }
    CHECK(std::abs(product(5, 0) - product(4, 0)) > 1e-3);
  }
}

TEST_CASE("rotate: features past the rotated width go through") {
  const Storage x = random_storage({2, 3, 4, 7}, "x");
  const RotationTables tables(4, 4, 100);
  TestTape tape;
  const Tensor y = rotate(tape->constant(x.tensor()), tables.rotation(*tape, Pairing::half)).value();
  for (Index row = 0; row < 24; ++row) {
    for (Index d = 4; d < 7; ++d) CHECK(y.data[7 * row + d] == x.data()[7 * row + d]);
  }
  CHECK(rotate(tape->constant(x.tensor()), {}).value().data == x.data());
}

TEST_CASE("rotate: gradient, with every pairing and width") {
  for (const Pairing pairing : {Pairing::half, Pairing::interleaved}) {
    for (const Index width : {2, 4, 6}) {
      std::array<Storage, 1> in{random_storage({2, 2, 3, 6}, "x")};
      const RotationTables tables(3, width, 10, 1.5);
      gradcheck("rotate", in, [&](Tape& tape, std::span<const Var> v) {
        return rotate(v[0], tables.rotation(tape, pairing));
      });
      gradcheck("rotate twice", in, [&](Tape& tape, std::span<const Var> v) {
        return multiply(rotate(v[0], tables.rotation(tape, pairing)),
                        rotate(v[0], tables.rotation(tape, pairing)));
      });
    }
  }
  std::array<Storage, 1> empty{Storage({2, 2, 0, 6})};
  const RotationTables none(0, 6, 10);
  gradcheck("rotate nothing", empty, [&](Tape& tape, std::span<const Var> v) {
    return rotate(v[0], none.rotation(tape, Pairing::half));
  });
}

TEST_CASE("rotate: tables and widths that do not fit are refused") {
  const Storage x = random_storage({1, 1, 3, 4}, "x");
  TestTape tape;
  const Var v = tape->constant(x.tensor());
  const RotationTables short_tables(2, 4, 10), wide(3, 6, 10), right(3, 4, 10);
  CHECK_THROWS_WITH_AS(
      rotate(v, short_tables.rotation(*tape, Pairing::half)),
      "rotate: cosine is [2, 2], sine is [2, 2]; expected [3, 2] for 3 rows and a rotated width of 4",
      ShapeError);
  CHECK_THROWS_WITH_AS(
      rotate(v, wide.rotation(*tape, Pairing::half)),
      "rotate: the rotated width is 6, the head width 4; expected an even width within the head", ShapeError);
  Rotation odd = right.rotation(*tape, Pairing::half);
  odd.width = 3;
  CHECK_THROWS_AS(rotate(v, odd), ShapeError);
  Rotation without_sine = right.rotation(*tape, Pairing::half);
  without_sine.sine = {};
  CHECK_THROWS_AS(rotate(v, without_sine), ShapeError);
  Rotation trained = right.rotation(*tape, Pairing::half);
  trained.cosine = tape->variable(trained.cosine.value());
  CHECK_THROWS_AS(rotate(v, trained), StateError);
  CHECK_THROWS_AS(rotate(reshape(v, {3, 4}), right.rotation(*tape, Pairing::half)), ShapeError);
}
