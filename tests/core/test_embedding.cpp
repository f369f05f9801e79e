#include <doctest/doctest.h>

#include <array>
#include <vector>

#include "core/error.h"
#include "core/ops.h"
#include "tests/support/gradcheck.h"
#include "tests/support/reference.h"
#include "tests/support/thread_setting.h"

using namespace tapeline;

TEST_CASE("embedding: rows come out in the order of the ids") {
  const Storage table = filled_storage({3, 2}, {0, 1, 10, 11, 20, 21});
  const std::array<Token, 4> ids{2, 0, 2, 1};
  TestTape tape;
  const Var out = embedding(tape->constant(table.tensor()), ids, 2, 2);
  CHECK(out.shape() == Shape{2, 2, 2});
  CHECK(numbers_of(out.value()) == std::vector<double>{20, 21, 0, 1, 20, 21, 10, 11});
  const std::array<Index, 2> rows{1, 1};
  const Var gathered = gather_rows(tape->constant(table.tensor()), rows);
  CHECK(gathered.shape() == Shape{2, 2});
  CHECK(numbers_of(gathered.value()) == std::vector<double>{10, 11, 10, 11});
}

TEST_CASE("embedding: gradients of a repeated row add up") {
  const Storage table = filled_storage({1, 1}, {0.1}), weights = filled_storage({1, 2, 1}, {0.2, 0.3});
  const std::array<Token, 2> ids{0, 0};
  TestTape tape;
  const Var x = tape->variable(table.tensor());
  tape->backward(weighted_sum(embedding(x, ids, 1, 2), weights.tensor()));
  CHECK(static_cast<double>(*x.grad().data) == doctest::Approx(0.5));
}

TEST_CASE("embedding: the ids may be gone when the gradient is taken") {
  const Storage table = random_storage({4, 3}, "table");
  TestTape tape;
  const Var x = tape->variable(table.tensor());
  std::vector<Token> ids{3, 1};
  const Var total = sum(embedding(x, ids, 1, 2));
  ids.assign(2, 0);
  tape->backward(total);
  CHECK(numbers_of(x.grad()) == std::vector<double>{0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1});
}

TEST_CASE("embedding: gradient") {
  std::array<Storage, 1> in{random_storage({5, 3}, "table")};
  const std::array<Token, 6> ids{4, 0, 4, 2, 4, 0};
  const std::array<Index, 3> rows{3, 3, 1};
  gradcheck("embedding", in, [&](Tape&, std::span<const Var> v) { return embedding(v[0], ids, 3, 2); });
  gradcheck("gather_rows", in, [&](Tape&, std::span<const Var> v) { return gather_rows(v[0], rows); });
  gradcheck("tied table", in, [&](Tape&, std::span<const Var> v) {
    return multiply(embedding(v[0], ids, 3, 2), gather_rows(v[0], std::span(rows).first(1)));
  });
  gradcheck("no ids", in,
            [&](Tape&, std::span<const Var> v) { return embedding(v[0], std::span<const Token>{}, 0, 2); });
}

TEST_CASE("embedding: the same gradient bits for one thread and several") {
  const Storage table = random_storage({7, 100}, "table"), weights = random_storage({8, 50, 100}, "weights");
  std::vector<Token> ids(400);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    ids[i] = static_cast<Token>(random_below(random_key(1, "ids"), i, 7));
  }
  const auto run = [&](int threads) {
    const ThreadSetting setting(threads);
    TestTape tape;
    const Var x = tape->variable(table.tensor());
    tape->backward(weighted_sum(embedding(x, ids, 8, 50), weights.tensor()));
    return numbers_of(x.grad());
  };
  CHECK(run(1) == run(3));
}

TEST_CASE("embedding: an id outside the table, or too few ids, is refused with the numbers") {
  const Storage table = random_storage({16, 2}, "table");
  TestTape tape;
  const Var x = tape->constant(table.tensor());
  const std::array<Token, 2> last{15, 0}, past{0, 16}, negative{-1, 0};
  const std::array<Index, 1> row{16};
  CHECK(embedding(x, last, 1, 2).shape() == Shape{1, 2, 2});
  CHECK_THROWS_WITH_AS(embedding(x, past, 1, 2),
                       "embedding: index 16 at place 1 is outside the table [16, 2]; expected 0 to 15",
                       ShapeError);
  CHECK_THROWS_AS(embedding(x, negative, 1, 2), ShapeError);
  CHECK_THROWS_AS(gather_rows(x, row), ShapeError);
  CHECK_THROWS_WITH_AS(embedding(x, last, 2, 2),
                       "embedding: 2 ids were given for a batch of 2 by 2; expected 4", ShapeError);
  CHECK_THROWS_AS(embedding(reshape(x, {32}), last, 1, 2), ShapeError);
}
