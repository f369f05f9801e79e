#include <doctest/doctest.h>

#include <cmath>

#include "core/error.h"
#include "tests/layers/tiny_model.h"

using namespace tapeline;

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

Transformer stirred(const ModelPlan& plan) {
  Transformer model(plan);
  stir(model.parameters());
  return model;
}

std::vector<double> first_rows(std::vector<double> logits, Index rows) {
  logits.resize(static_cast<std::size_t>(rows * 11));
  return logits;
}

/// The loss of the same 256 tokens in windows of `time`.
double mean_loss(const Transformer& model, Index time) {
  const std::vector<Token> ids = tiny_tokens(256), targets = tiny_tokens(256, "targets");
  Arena arena;
  GradientPool pool;
  Tape tape(arena, pool, Recording::off);
  Pass pass(tape);
  LossDetail detail;
  model.loss(pass, ids, targets, 256 / time, &detail);
  return detail.total / 256;
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION

TEST_CASE("positions: the first rows of a long window are those of a short one") {
  const std::vector<Token> ids = tiny_tokens(40);
  for (const std::string& kind : all_kinds()) {
    const Transformer model = stirred(tiny_plan(kind, 40));
    const std::vector<double> whole = full_logits(model, ids);
    for (const Index rows : {1, 2, 17, 39}) {
      CHECK_MESSAGE(
          largest_difference(full_logits(model, std::span(ids).first(static_cast<std::size_t>(rows))),
                             first_rows(whole, rows)) < cached_limit(),
          kind, ", ", rows, " rows");
    }
  }
}

TEST_CASE("positions: a causal model does not see what comes") {
  std::vector<Token> ids = tiny_tokens(20);
  for (const std::string& kind : all_kinds()) {
    const Transformer model = stirred(tiny_plan(kind, 20));
    const std::vector<double> before = full_logits(model, ids);
    ids[12] = (ids[12] + 1) % 11;
    const std::vector<double> after = full_logits(model, ids);
    CHECK(first_rows(before, 12) == first_rows(after, 12));
    CHECK(before != after);
  }
}

TEST_CASE("positions: moving all rows leaves none, rope and alibi as they were, not learned and sinusoidal") {
  const std::vector<Token> ids = tiny_tokens(12);
  for (const std::string& kind : all_kinds()) {
    const Transformer model = stirred(tiny_plan(kind, 64));
    const double moved = largest_difference(full_logits(model, ids, 37), full_logits(model, ids));
    if (kind == "learned" || kind == "sinusoidal") {
      CHECK_MESSAGE(moved > 1e-2, kind);
    } else {
      CHECK_MESSAGE(moved < cached_limit(), kind);
    }
  }
}

TEST_CASE("positions: order matters to every encoding, and to none through the mask alone") {
  std::vector<Token> ids = {1, 2, 3, 4, 5, 6};
  std::vector<Token> swapped = {2, 1, 3, 4, 5, 6};
  for (const std::string& kind : all_kinds()) {
    const Transformer model = stirred(tiny_plan(kind));
    CHECK(largest_difference(full_logits(model, ids), full_logits(model, swapped)) > 1e-4);
  }
}

TEST_CASE("positions: an untrained model is as good at four times the length") {
  for (const std::string& kind : all_kinds()) {
    if (kind == "learned") continue;  // refuses
    const Transformer model(tiny_plan(kind, 64));
    CHECK_MESSAGE(std::abs(mean_loss(model, 256) / mean_loss(model, 64) - 1) < 0.01, kind);
  }
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

TEST_CASE("positions: a learned table refuses past its last row, with both numbers") {
  const Transformer model = stirred(tiny_plan("learned", 16));
  CHECK(model.max_length() == 16);
  CHECK(full_logits(model, tiny_tokens(16)).size() == 16 * 11);
  CHECK_THROWS_WITH_AS(full_logits(model, tiny_tokens(17)),
                       "transformer: the learned table has 16 rows; row 17 was asked for; use a shorter "
                       "window or a longer table",
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
