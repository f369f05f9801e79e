#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/kernels/turn.h"
#include "core/ops.h"
#include "tests/support/gradcheck.h"
#include "tests/support/instruction_sets.h"
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

TEST_CASE("turn_heads: a plain loop over places and widths, both ways, for every instruction set") {
  using namespace tapeline;
  const Index batch = 2, time = 3, heads = 2, row_width = 50, first = 3;
  for_every_instruction_set([&](std::int64_t) {
    for (const Pairing pairing : {Pairing::half, Pairing::interleaved}) {
      for (const Index turned : {0, 2, 8, 18}) {
        for (const auto& [direction, accumulate] :
             {std::pair{TurnDirection::forward, false}, std::pair{TurnDirection::transposed, true}}) {
          const Index width = 19;
          CAPTURE(turned);
          const Storage rows = random_storage({batch, time, row_width}, "rows");
          const Storage cosine = random_storage({time, std::max<Index>(turned / 2, 1)}, "cosine"),
                        sine = random_storage({time, std::max<Index>(turned / 2, 1)}, "sine");
          Storage out = random_storage({batch, heads, time, width}, "out");
          std::vector<double> right = numbers_of(out.tensor());
          const double sign = direction == TurnDirection::forward ? 1 : -1;
          for (Index b = 0; b < batch; ++b) {
            for (Index h = 0; h < heads; ++h) {
              for (Index t = 0; t < time; ++t) {
                const Real* from = rows.data() + (b * time + t) * row_width + first + h * width;
                double* to = right.data() + ((b * heads + h) * time + t) * width;
                std::vector<double> turned_row(from, from + width);
                for (Index p = 0; p < turned / 2; ++p) {
                  const auto a = static_cast<std::size_t>(pairing == Pairing::half ? p : 2 * p);
                  const auto partner =
                      static_cast<std::size_t>(pairing == Pairing::half ? p + turned / 2 : 2 * p + 1);
                  const double c = static_cast<double>(cosine.data()[t * (turned / 2) + p]);
                  const double s = sign * static_cast<double>(sine.data()[t * (turned / 2) + p]);
                  const double x = static_cast<double>(from[a]), y = static_cast<double>(from[partner]);
                  turned_row[a] = x * c - y * s;
                  turned_row[partner] = y * c + x * s;
                }
                for (std::size_t d = 0; d < turned_row.size(); ++d)
                  to[d] = turned_row[d] + (accumulate ? to[d] : 0);
              }
            }
          }
          turn_heads({{cosine.data(), sine.data(), turned, pairing},
                      direction,
                      accumulate,
                      batch,
                      time,
                      heads,
                      width,
                      rows.data() + first,
                      HeadRows::by_row(time, row_width, width),
                      out.data(),
                      HeadRows::by_head(heads, time, width)});
          CHECK(largest_difference(numbers_of(out.tensor()), right) <= rounding());
        }
      }
    }
  });
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
