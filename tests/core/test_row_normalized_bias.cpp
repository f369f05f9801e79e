#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "tests/support/gradcheck.h"
#include "tests/support/instruction_sets.h"
#include "tests/support/reference_row_normalized.h"
#include "tests/support/thread_setting.h"

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

constexpr double bias_value_limit = sizeof(Real) == 8 ? 1e-12 : 2e-5;
constexpr double bias_gradient_limit = sizeof(Real) == 8 ? 1e-11 : 1e-4;

void check_equal_biases(const RowNormalizedOutcome& found, const RowNormalizedOutcome& expected) {
  CHECK(attention_difference(found.attention.out, expected.attention.out) <= bias_value_limit);
  CHECK(attention_difference(found.attention.d_q, expected.attention.d_q) <= bias_gradient_limit);
  CHECK(attention_difference(found.attention.d_k, expected.attention.d_k) <= bias_gradient_limit);
  CHECK(attention_difference(found.attention.d_v, expected.attention.d_v) <= bias_gradient_limit);
  CHECK(attention_difference(found.d_numerator, expected.d_numerator) <= bias_gradient_limit);
  CHECK(attention_difference(found.d_denominator, expected.d_denominator) <= bias_gradient_limit);
  CHECK(attention_difference(found.d_slopes, expected.d_slopes) <= bias_gradient_limit);
  CHECK(attention_difference(found.d_intercepts, expected.d_intercepts) <= bias_gradient_limit);
}

/// Shapes where tiles, vectors and bands can end badly, every mask, explicit positions, chunks.
std::vector<RowNormalizedCase> bias_cases() {
  std::vector<RowNormalizedCase> all;
  const KeyMask full{false, 0, 0};
  all.push_back(with_operands({"one row", 1, 1, 1, 1, 1, 8}, 0, 1));
  all.push_back(with_operands({"odd rows", 2, 2, 2, 7, 7, 10}, 0, 7));
  all.push_back(with_operands({"one segment", 1, 2, 1, 70, 70, 8}, 0, 70, {}));
  all.push_back(with_operands({"one segment in reach", 1, 2, 1, 70, 70, 8}, 0, 70, {-7, 9}));
  all.push_back(with_operands({"several tiles, grouped heads", 2, 4, 2, 131, 131, 16}, 0, 131));
  all.push_back(with_operands({"longer table", 1, 2, 2, 70, 70, 8}, -50, 300));
  all.push_back(with_operands({"chunk", 1, 2, 1, 67, 150, 10}, 0, 150));
  all.push_back(with_operands({"one query of many keys", 2, 4, 2, 1, 150, 32}, 0, 150));
  all.push_back(with_operands({"not causal", 1, 2, 2, 100, 100, 8, full}, -99, 199));
  all.push_back(with_operands({"not causal, chunk", 1, 2, 2, 40, 131, 6, full}, -39, 170));
  all.push_back(with_operands({"window", 1, 2, 1, 140, 140, 8, {true, 40, 0}}, 0, 40));
  all.push_back(with_operands({"window and sinks", 1, 2, 1, 200, 200, 8, {true, 20, 5}}, 0, 200));
  AttentionCase scaled{"scale and dropout", 2, 2, 1, 75, 75, 8};
  scaled.query_scale = spread(75, 0.5, 1.5);
  scaled.dropout = {0.3, random_key(8, "row normalized"), 0};
  all.push_back(with_operands(scaled, 0, 75));
  AttentionCase gaps{"positions with gaps", 2, 2, 1, 75, 75, 8};
  for (Index i = 0; i < 75; ++i) gaps.key_positions.push_back(3 * i + i % 2);
  gaps.query_positions = gaps.key_positions;
  all.push_back(with_operands(gaps, 0, 230));
  gaps.name = "positions with gaps, chunk, window and sinks";
  gaps.query_rows = 20;
  gaps.query_positions.erase(gaps.query_positions.begin(), gaps.query_positions.end() - 20);
  gaps.mask = {true, 30, 2};
  all.push_back(with_operands(gaps, -3, 233));
  return all;
}

TEST_CASE("row-normalized bias: agrees with plain loops, forward and backward") {
  for (const RowNormalizedCase& c : bias_cases()) {
    CAPTURE(c.attention.name);
    const RowNormalizedInputs inputs(c);
    check_equal_biases(run_bias(c, inputs), naive_bias(c, inputs));
  }
}

TEST_CASE("row-normalized bias: every instruction set of this machine gives the values of the plain loops") {
  for_every_instruction_set([](std::int64_t) {
    for (const RowNormalizedCase& c : bias_cases()) {
      if (c.attention.query_rows > 80) continue;
      CAPTURE(c.attention.name);
      const RowNormalizedInputs inputs(c);
      check_equal_biases(run_bias(c, inputs), naive_bias(c, inputs));
    }
  });
}

TEST_CASE("row-normalized bias: gradients against central differences") {
  for (const KeyMask& mask : {KeyMask{true, 0, 0}, KeyMask{false, 0, 0}, KeyMask{true, 4, 2}}) {
    for (const bool gaps : {false, true}) {
      AttentionCase sizes{"", 1, 2, 1, 9, 13, 6, mask};
      for (Index i = 0; gaps && i < 13; ++i) sizes.key_positions.push_back(2 * i + i % 3);
      if (gaps) sizes.query_positions.assign(sizes.key_positions.begin() + 4, sizes.key_positions.end());
      const RowNormalizedCase c = with_operands(sizes, -30, 60);
      RowNormalizedInputs made(c);
      std::vector<Storage> inputs;
      for (Storage* input : {&made.attention.q, &made.attention.k, &made.attention.v, &made.numerator,
                             &made.denominator, &made.slopes, &made.intercepts}) {
        inputs.push_back(std::move(*input));
      }
      const std::string name =
          fmt::format("row-normalized bias, causal {} window {} gaps {}", mask.causal, mask.window, gaps);
      gradcheck(name, inputs, [&](Tape& tape, std::span<const Var> vars) {
        const RowNormalizedBias term{vars[3], c.first_distance, vars[4], tape.constant(made.cuts.tensor()),
                                     vars[5], vars[6]};
        return attention(vars[0], vars[1], vars[2], terms_of(c, term));
      });
    }
  }
}

TEST_CASE("row-normalized bias: explicit positions equal to the row numbers change nothing") {
  RowNormalizedCase c = with_operands({"", 2, 2, 1, 131, 131, 8}, 0, 131);
  const RowNormalizedOutcome plain = run_bias(c, RowNormalizedInputs(c));
  c.attention.key_positions.resize(131);
  std::iota(c.attention.key_positions.begin(), c.attention.key_positions.end(), Index{0});
  c.attention.query_positions = c.attention.key_positions;
  const RowNormalizedOutcome gathered = run_bias(c, RowNormalizedInputs(c));
  CHECK(gathered.attention.out == plain.attention.out);
  CHECK(gathered.attention.d_q == plain.attention.d_q);
  check_equal_biases(gathered, plain);
}

TEST_CASE("row-normalized bias: the same bits for a thread count, and agreement across them") {
  const RowNormalizedCase c = with_operands({"", 1, 3, 3, 200, 200, 16}, 0, 200);
  const RowNormalizedInputs inputs(c);
  const RowNormalizedOutcome reference = run_bias(c, inputs);
  for (const int threads : {1, 2, 3, 4}) {
    const ThreadSetting setting(threads);
    const RowNormalizedOutcome first = run_bias(c, inputs), second = run_bias(c, inputs);
    CHECK(first.attention.out == second.attention.out);
    CHECK(first.d_numerator == second.d_numerator);
    CHECK(first.d_denominator == second.d_denominator);
    CHECK(first.d_slopes == second.d_slopes);
    CHECK(first.d_intercepts == second.d_intercepts);
    check_equal_biases(first, reference);
  }
}

TEST_CASE("row-normalized bias: the heads of a group share numerators, a part without gradient gets none") {
  const RowNormalizedCase c = with_operands({"", 1, 2, 2, 20, 20, 8}, 0, 20);
  const RowNormalizedInputs inputs(c);
  const RowNormalizedOutcome all = run_bias(c, inputs);
  TestTape tape;
  const Var q = tape->constant(inputs.attention.q.tensor()), k = tape->constant(inputs.attention.k.tensor()),
            v = tape->constant(inputs.attention.v.tensor());
  const RowNormalizedBias term{
      tape->constant(inputs.numerator.tensor()),   0,
      tape->constant(inputs.denominator.tensor()), tape->constant(inputs.cuts.tensor()),
      tape->constant(inputs.slopes.tensor()),      tape->variable(inputs.intercepts.tensor())};
  const Var out = attention(q, k, v, terms_of(c, term));
  tape->backward(weighted_sum(out, inputs.attention.d_out.tensor()));
  CHECK(numbers_of(term.intercepts.grad()) == all.d_intercepts);
  CHECK_FALSE(term.numerator.needs_grad());
}

TEST_CASE("row-normalized bias: operands that do not fit are refused by name") {
  const auto message = [](RowNormalizedCase c, auto&& change) -> std::string {
    const RowNormalizedInputs inputs(c);
    TestTape tape(Recording::off);
    RowNormalizedBias term{
        tape->constant(inputs.numerator.tensor()),   c.first_distance,
        tape->constant(inputs.denominator.tensor()), tape->constant(inputs.cuts.tensor()),
        tape->constant(inputs.slopes.tensor()),      tape->constant(inputs.intercepts.tensor())};
    change(term);
    const Var q = tape->constant(inputs.attention.q.tensor()),
              k = tape->constant(inputs.attention.k.tensor());
    try {
      attention(q, k, k, terms_of(c, term));
    } catch (const ShapeError& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  const auto nothing = [](RowNormalizedBias&) {};
  RowNormalizedCase c = with_operands({"", 1, 2, 2, 70, 70, 8}, 0, 70);
  CHECK(message(c, nothing) == "nothing was thrown");
  CHECK(message(c, [](RowNormalizedBias& t) { t.numerator = {}; }) ==
        "attention: the numerators are absent; expected [distances], at least one");
  CHECK(message(c, [](RowNormalizedBias& t) { t.denominator = t.cuts; }) ==
        "attention: the denominators are [8], q has 70 rows; expected [70]");
  CHECK(message(c, [](RowNormalizedBias& t) { t.slopes = t.numerator; }) ==
        "attention: slopes are [70], intercepts [2, 9], q has 2 heads; expected [2, segments] both");
  CHECK(message(c, [](RowNormalizedBias& t) { t.cuts = t.numerator; }) ==
        "attention: the cuts are [70], slopes [2, 9]; expected [8], one fewer than segments");
  c = with_operands({"", 1, 2, 2, 70, 70, 8}, 0, 60);
  CHECK(message(c, nothing) ==
        "attention: distance 69 has no numerator; distances 0 to 59 have one; make the table longer");
  c.attention.mask.window = 60;
  CHECK(message(c, nothing) == "nothing was thrown");
  c.attention.mask = {false, 0, 0};
  CHECK(message(c, nothing) ==
        "attention: distance -69 has no numerator; distances 0 to 59 have one; make the table longer");
  c = with_operands({"", 1, 2, 2, 70, 70, 8}, 0, 70);
  for (Index i = 0; i < 70; ++i) c.attention.key_positions.push_back(i);
  c.attention.query_positions = c.attention.key_positions;
  CHECK(message(c, nothing) == "nothing was thrown");
  c.attention.query_positions[50] = 75;
  CHECK(message(c, nothing).starts_with("attention: distance 7"));
  CHECK(message(c, nothing).ends_with("distances 0 to 69 have one; make the table longer"));
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION
