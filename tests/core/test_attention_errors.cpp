#include <doctest/doctest.h>

#include <string>

#include "core/error.h"
#include "tests/support/attention_cases.h"

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

std::string message_of(const AttentionCase& c, auto&& call) {
  const AttentionInputs inputs(c);
  TestTape tape;
  const Var q = tape->variable(inputs.q.tensor()), k = tape->variable(inputs.k.tensor()),
            v = tape->variable(inputs.v.tensor());
  try {
    call(q, k, v, attention_terms(*tape, c, inputs));
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

std::string message_of(const AttentionCase& c) {
  return message_of(c, [](Var q, Var k, Var v, const ScoreTerms& terms) { attention(q, k, v, terms); });
}

TEST_CASE("operands that do not fit are refused in one line that names them") {
  AttentionCase c{"", 2, 4, 4, 16, 16, 8};
  const auto with_keys = [&](const Shape& shape) {
    return message_of(c, [&](Var q, Var, Var, const ScoreTerms& terms) {
      const Storage other(shape);
      const Var k = q.tape().variable(other.tensor());
      attention(q, k, k, terms);
    });
  };
  CHECK(with_keys({2, 4, 16, 6}) ==
        "attention: q is [2, 4, 16, 8], k is [2, 4, 16, 6]; head widths must match");
  CHECK(with_keys({3, 4, 16, 8}) == "attention: q is [2, 4, 16, 8], k is [3, 4, 16, 8]; batches must match");
  CHECK(with_keys({2, 3, 16, 8}) ==
        "attention: q is [2, 4, 16, 8], k is [2, 3, 16, 8]; the key heads must divide the query heads");
  CHECK(with_keys({2, 4, 15, 8}) ==
        "attention: q is [2, 4, 16, 8], k is [2, 4, 15, 8]; there may not be more query rows than key rows");
  CHECK(with_keys({4, 16, 8}) ==
        "attention: q is [2, 4, 16, 8], k is [4, 16, 8]; expected [batch, heads, rows, head width]");
  AttentionCase negative = c;
  negative.mask.window = -1;
  CHECK(message_of(negative) == "attention: window -1 and sinks 0; both must be 0 or more");
  AttentionCase rate = c;
  CHECK(message_of(rate, [](Var q, Var k, Var v, const ScoreTerms& terms) {
          attention(q, k, v, terms, Dropout{-0.1, {}, 0});
        }) == "attention: dropout rate -0.1; it must be between 0 and 1");
}

TEST_CASE("a distance outside the table is refused with the distance and the table's range") {
  AttentionCase c{"", 1, 2, 2, 70, 70, 8};
  c.table = spread(2 * 60, -1, 1);
  CHECK(message_of(c) ==
        "attention: distance 69 is outside the bias table, which holds distances 0 to 59; make the table "
        "longer");
  c.mask.window = 60;
  CHECK(message_of(c) == "nothing was thrown");
  c.mask.sinks = 1;
  CHECK(message_of(c) ==
        "attention: distance 69 is outside the bias table, which holds distances 0 to 59; make the table "
        "longer");
  c.mask = {false, 0, 0};
  c.table = spread(2 * 70, -1, 1);
  CHECK(message_of(c) ==
        "attention: distance -69 is outside the bias table, which holds distances 0 to 69; make the table "
        "longer");
  c.mask = {};
  for (Index i = 0; i < 70; ++i) c.key_positions.push_back(i);
  c.query_positions = c.key_positions;
  CHECK(message_of(c) == "nothing was thrown");
  c.query_positions[50] = 75;
  CHECK(message_of(c).starts_with("attention: distance 7"));
  CHECK(message_of(c).ends_with("holds distances 0 to 69; make the table longer"));
}

TEST_CASE("an absent operand is refused by name") {
  AttentionCase c{"", 2, 4, 4, 16, 16, 8};
  CHECK(message_of(c, [](Var, Var k, Var v, const ScoreTerms& terms) { attention({}, k, v, terms); }) ==
        "attention: q is absent, k is [2, 4, 16, 8], v is [2, 4, 16, 8]; all three are needed");
  CHECK(message_of(c, [](Var q, Var, Var v, const ScoreTerms& terms) { attention(q, {}, v, terms); }) ==
        "attention: q is [2, 4, 16, 8], k is absent, v is [2, 4, 16, 8]; all three are needed");
  CHECK(message_of(c, [](Var q, Var k, Var, const ScoreTerms& terms) { attention(q, k, {}, terms); }) ==
        "attention: q is [2, 4, 16, 8], k is [2, 4, 16, 8], v is absent; all three are needed");
  CHECK(message_of(c, [](Var, Var, Var, const ScoreTerms& terms) {
          attention(Var(), CachedKeyValues{}, terms);
        }) == "attention: q is absent");
  TestTape tape;
  CHECK_THROWS_AS(attention({}, {}, {}, {}), ShapeError);
}

TEST_CASE("contextual positions that do not fit are refused by name") {
  const AttentionCase c{"", 1, 2, 2, 4, 4, 8};
  const auto refusal = [&](const Shape& table_shape, auto change) {
    return message_of(c, [&](Var q, Var k, Var v, ScoreTerms terms) {
      const Storage table(table_shape);
      terms.term = ContextualPositions{q.tape().variable(table.tensor())};
      change(terms);
      attention(q, k, v, terms);
    });
  };
  const auto nothing = [](ScoreTerms&) {};
  const std::string expected = ", q has heads of width 8; expected [2 rows or more, 8]";
  CHECK(refusal({3, 8}, nothing) == "nothing was thrown");
  CHECK(refusal({3, 6}, nothing) == "attention: the table of contextual positions is [3, 6]" + expected);
  CHECK(refusal({1, 8}, nothing) == "attention: the table of contextual positions is [1, 8]" + expected);
  CHECK(refusal({3, 8}, [](ScoreTerms& terms) { terms.term = ContextualPositions{}; }) ==
        "attention: the table of contextual positions is absent" + expected);
  CHECK(refusal({3, 8}, [](ScoreTerms& terms) { terms.mask.causal = false; }) ==
        "attention: contextual positions (CoPE) are counted from the query backwards; they need the causal "
        "mask");
  CHECK(refusal({3, 8}, [](ScoreTerms& terms) { terms.scale = 0; }) ==
        "attention: the score scale is 0; contextual positions need one above 0");
  const Storage scale = random_storage({4}, "scale");
  CHECK(message_of(c,
                   [&](Var q, Var k, Var v, ScoreTerms terms) {
                     const Storage table({3, 8});
                     terms.term = ContextualPositions{q.tape().variable(table.tensor())};
                     terms.query_scale = q.tape().variable(scale.tensor());
                     attention(q, k, v, terms);
                   }) ==
        "attention: contextual positions (CoPE) and a query scale; the positions are counted with gates of "
        "the score, which the scale would change; use one of the two");
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION
