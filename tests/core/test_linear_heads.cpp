#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/ops.h"
#include "tests/support/gradcheck.h"
#include "tests/support/reference.h"
#include "tests/support/rotation_tables.h"
#include "tests/support/thread_setting.h"

using namespace tapeline;

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

struct HeadsCase {
  std::string name;
  Index batch, time, heads, key_value_heads, width;
  Index query_turned, key_turned;  // rotated features of a head; 0: none
  Pairing pairing = Pairing::half;
};

const std::vector<HeadsCase> heads_cases = {
    {"not turned", 2, 5, 4, 4, 6, 0, 0},
    {"turned", 2, 70, 4, 2, 16, 16, 16},
    {"neighbours are pairs", 1, 33, 2, 2, 8, 8, 8, Pairing::interleaved},
    {"in part, odd width", 3, 9, 3, 1, 7, 4, 4},
    {"queries alone", 2, 12, 2, 1, 8, 8, 0},
    {"keys alone", 2, 12, 2, 1, 8, 0, 6},
    {"one row", 1, 1, 1, 1, 2, 2, 2},
};

/// Values, and the gradients of x, weight and bias, of query, key and value heads made by `make`.
template <class Make>
std::vector<std::vector<double>> heads_and_gradients(const HeadsCase& c, Make make) {
  const Index in = 5, out = (c.heads + 2 * c.key_value_heads) * c.width;
  const Storage x = random_storage({c.batch, c.time, in}, "x"), w = random_storage({out, in}, "weight", 0.5),
                b = random_storage({out}, "bias");
  const RotationTables of_query(c.time, std::max<Index>(c.query_turned, 2), 100),
      of_key(c.time, std::max<Index>(c.key_turned, 2), 10);
  TestTape tape;
  const Var rows = tape->variable(x.tensor()), weight = tape->variable(w.tensor()),
            bias = tape->variable(b.tensor());
  const Rotation query = c.query_turned > 0 ? of_query.rotation(*tape, c.pairing) : Rotation{},
                 key = c.key_turned > 0 ? of_key.rotation(*tape, c.pairing) : Rotation{};
  const HeadsSplit heads = make(rows, weight, bias, query, key);
  std::vector<std::vector<double>> all;
  const std::array<Var, 3> parts{heads.query, heads.key, heads.value};
  std::array<Storage, 3> weights;  // outlive the backward run
  std::array<Var, 3> sums;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    all.push_back(numbers_of(parts[part].value()));
    weights[part] = random_storage(parts[part].shape(), "weights");
    sums[part] = weighted_sum(parts[part], weights[part].tensor());
  }
  tape->backward(add(add(sums[0], sums[1]), sums[2]));
  for (const Var learned : {rows, weight, bias}) all.push_back(numbers_of(learned.grad()));
  return all;
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION

TEST_CASE("linear_heads: what linear, split_heads and rotate give one after the other, with all gradients") {
  for (const HeadsCase& c : heads_cases) {
    CAPTURE(c.name);
    const auto apart =
        heads_and_gradients(c, [&](Var x, Var w, Var b, const Rotation& query, const Rotation& key) {
          const HeadsSplit split = split_heads(linear(x, w, b), c.heads, c.key_value_heads);
          return HeadsSplit{rotate(split.query, query), rotate(split.key, key), split.value};
        });
    for (const int threads : {1, 3}) {
      const ThreadSetting setting(threads);
      const auto joint =
          heads_and_gradients(c, [&](Var x, Var w, Var b, const Rotation& query, const Rotation& key) {
            return split_heads(linear_heads(x, w, b, c.heads, c.key_value_heads, query, key), c.heads,
                               c.key_value_heads);
          });
      for (std::size_t part = 0; part < apart.size(); ++part) {
        CAPTURE(part);
        CHECK(largest_difference(joint[part], apart[part]) <= 20 * rounding());
      }
    }
  }
}

TEST_CASE("linear_heads: gradient, with and without bias") {
  std::array<Storage, 3> inputs{random_storage({2, 3, 5}, "x"), random_storage({8 * 4, 5}, "weight"),
                                random_storage({8 * 4}, "bias")};
  const RotationTables tables(3, 4, 10);
  for (const Pairing pairing : {Pairing::half, Pairing::interleaved}) {
    gradcheck("linear_heads", inputs, [&](Tape& tape, std::span<const Var> in) {
      const Rotation turn = tables.rotation(tape, pairing);
      return linear_heads(in[0], in[1], in[2], 4, 2, turn, turn);
    });
  }
  gradcheck("linear_heads without bias", std::span(inputs).first(2),
            [&](Tape& tape, std::span<const Var> in) {
              return linear_heads(in[0], in[1], {}, 4, 2, tables.rotation(tape, Pairing::half), {});
            });
}

TEST_CASE("linear_heads: what does not fit is refused by name") {
  TestTape tape(Recording::off);
  const Storage x = random_storage({2, 3, 5}, "x"), w = random_storage({16, 5}, "weight"),
                flat = random_storage({6, 5}, "flat");
  const Var rows = tape->constant(x.tensor()), weight = tape->constant(w.tensor());
  CHECK_THROWS_WITH_AS(linear_heads(tape->constant(flat.tensor()), weight, {}, 2, 1, {}, {}),
                       "linear_heads: the joint rows are [6, 16]; expected [batch, time, width]", ShapeError);
  CHECK_THROWS_WITH_AS(linear_heads(rows, weight, {}, 3, 1, {}, {}),
                       "linear_heads: the joint rows are [2, 3, 16] for 3 heads and 1 key/value heads; the "
                       "width must be a multiple of 5",
                       ShapeError);
  CHECK_THROWS_WITH_AS(linear_heads(rows, tape->constant(flat.tensor()), weight, 2, 1, {}, {}),
                       "linear_heads: bias is [16, 5], weight is [6, 5]; expected a bias of [6]", ShapeError);
  const RotationTables longer(4, 4, 10);
  CHECK_THROWS_AS(linear_heads(rows, weight, {}, 2, 1, longer.rotation(*tape, Pairing::half), {}),
                  ShapeError);
}
