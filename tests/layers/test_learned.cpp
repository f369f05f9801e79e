#include <doctest/doctest.h>

#include <cmath>

#include "core/error.h"
#include "tests/layers/tiny_model.h"

using namespace tapeline;

namespace tapeline::inline TAPELINE_PRECISION {
namespace {}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION

TEST_CASE("positions: a learned table refuses past its last row, with both numbers") {
  const Transformer model = stirred(tiny_plan("learned", 16));
  CHECK(model.max_length() == 16);
  CHECK(full_logits(model, tiny_tokens(16)).size() == 16 * 11);
  CHECK_THROWS_WITH_AS(full_logits(model, tiny_tokens(17)),
                       "transformer: learned positions end after row 16; row 17 was asked for; use a shorter "
                       "window, or settings "
                       "that reach further",
                       ShapeError);
  CHECK_THROWS_WITH_AS(full_logits(model, tiny_tokens(16), 1),
                       "positions: the learned table has 16 rows; row 17 was asked for; use a shorter "
                       "window, or set positional.learned.beyond",
                       ShapeError);
  CHECK_THROWS_AS(cached_logits(model, tiny_tokens(17), {16, 1}), ShapeError);
  CHECK(stirred(with_option(tiny_plan("learned", 16), "rows", Index{20})).max_length() == 20);
}

TEST_CASE("positions: every row of a learned table is used and trained") {
  Transformer model(tiny_plan("learned", 16));
  Arena arena;
  GradientPool pool;
  Tape tape(arena, pool);
  Pass pass(tape);
  const std::vector<Token> ids = tiny_tokens(16), targets = tiny_tokens(16, "targets");
  model.parameters().zero_gradients();
  tape.backward(model.loss(pass, ids, targets, 1));
  const Tensor gradient = model.parameters().find("positional/learned/table")->grad();
  for (Index row = 0; row < 16; ++row) {
    double largest = 0;
    for (Index c = 0; c < 16; ++c) {
      largest = std::max(largest, std::abs(static_cast<double>(gradient.data[row * 16 + c])));
    }
    CHECK_MESSAGE(largest > 0, "row ", row);
  }
}

TEST_CASE("positions: what a learned table does beyond its rows, when asked to") {
  const auto model = [](const char* beyond) {
    Transformer made(with_option(tiny_plan("learned", 4), "beyond", std::string(beyond)));
    stir(made.parameters());
    return made;
  };
  const auto added = [](const Transformer& to, Index count) {  // the table rows that a pass of `count` adds
    Arena arena;
    GradientPool pool;
    Tape tape(arena, pool, Recording::off);
    Pass pass(tape);
    const Storage zero({1, count, 16});
    return numbers_of(
        to.encoding().add_to_input(pass, tape.constant(zero.tensor()), {.begin = 0, .count = count}).value());
  };
  Transformer clamp = model("clamp"), wrap = model("wrap"), interpolate = model("interpolate");
  const std::vector<double> table = numbers_of(clamp.parameters().find("positional/learned/table")->value());
  const auto row = [](const std::vector<double>& rows, Index number) {
    return std::vector<double>(rows.begin() + number * 16, rows.begin() + (number + 1) * 16);
  };
  CHECK_FALSE(clamp.max_length().has_value());
  for (const Transformer* each : {&clamp, &wrap, &interpolate}) CHECK(added(*each, 4) == table);
  CHECK(row(added(clamp, 7), 5) == row(table, 3));
  CHECK(row(added(wrap, 7), 5) == row(table, 1));
  const std::vector<double> squeezed = added(interpolate, 8);  // position p at p / 2
  CHECK(row(squeezed, 2) == row(table, 1));
  CHECK(row(squeezed, 7) == row(table, 3));
  std::vector<double> middle = row(table, 1);
  for (std::size_t c = 0; c < 16; ++c) middle[c] = (middle[c] + row(table, 2)[c]) / 2;
  CHECK(largest_difference(row(squeezed, 3), middle) < rounding());
}

TEST_CASE("learned: the table is a parameter that all layers share, and does not decay") {
  Transformer model(tiny_plan("learned"));
  const Parameter* table = model.parameters().find("positional/learned/table");
  REQUIRE(table != nullptr);
  CHECK(table->shape() == Shape{16, 16});
  CHECK_FALSE(table->decays());
}
