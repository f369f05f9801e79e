#include <doctest/doctest.h>

#include <iterator>
#include <vector>

#include "tests/support/attention_cases.h"
#include "tests/support/golden.h"
#include "tests/support/gradcheck.h"
#include "tests/support/instruction_sets.h"
#include "tests/support/reference_contextual.h"
#include "tests/support/thread_setting.h"

/// The score term of positions counted by content (CoPE).
namespace tapeline::inline TAPELINE_PRECISION {
namespace {

constexpr double contextual_value_limit = sizeof(Real) == 8 ? 1e-12 : 2e-5;
constexpr double contextual_gradient_limit = sizeof(Real) == 8 ? 1e-11 : 1e-4;

/// Every shape where tiles, vectors and bands can end badly; tables that no row fills, that some rows fill,
/// and that are full after a key or two.
std::vector<ContextualCase> contextual_cases() {
  std::vector<ContextualCase> all = {
      {{"one row", 1, 1, 1, 1, 1, 8}, 4},
      {{"odd rows and width", 2, 2, 2, 7, 7, 10}, 3},
      {{"smallest table", 1, 2, 2, 70, 70, 8}, 2},
      {{"one tile", 2, 4, 4, 64, 64, 32}, 65},
      {{"tile and one", 1, 2, 2, 65, 65, 16}, 20},
      {{"many tiles", 1, 2, 1, 200, 200, 64}, 64},
      {{"a table larger than the count", 1, 2, 2, 130, 130, 8}, 400},
      {{"wide head", 1, 1, 1, 33, 33, 130}, 9},
      {{"one query of many keys", 2, 4, 2, 1, 150, 32}, 64},
      {{"chunk at the end", 1, 2, 2, 40, 131, 6}, 33},
      {{"window", 1, 2, 2, 150, 150, 8, {true, 37, 0}}, 12},
      {{"window 1", 1, 1, 1, 70, 70, 8, {true, 1, 0}}, 5},
      {{"window and sinks", 1, 2, 2, 200, 200, 16, {true, 20, 5}}, 9},
      {{"narrow window, many sinks", 1, 1, 1, 150, 150, 8, {true, 3, 70}}, 25},
      {{"window, chunk", 1, 2, 1, 30, 170, 8, {true, 33, 3}}, 64},
      {{"grouped heads", 2, 6, 2, 67, 67, 8}, 16},
  };
  for (const bool gaps : {false, true}) {
    ContextualCase c{{"explicit positions", 1, 2, 1, 70, 70, 8}, 8};
    for (Index i = 0; i < 70; ++i) c.attention.key_positions.push_back(gaps ? 3 * i + i % 2 : i);
    c.attention.query_positions = c.attention.key_positions;
    all.push_back(c);
  }
  for (std::size_t n = all.size(); n-- > 0;) {
    all.push_back(all[n]);
    all.back().scaled = false;
    all.back().attention.name += ", table not scaled";
  }
  return all;
}

/// Numbers for which the added products are of order 1 either way, like the scores.
Storage contextual_table(const ContextualCase& c) {
  return random_storage(c.table_shape(), "positions", c.scaled ? 1 : c.attention.scale());
}

void check_contextual(const ContextualCase& c) {
  CAPTURE(c.attention.name);
  const AttentionInputs inputs(c.attention);
  const Storage table = contextual_table(c);
  const ContextualOutcome expected = naive_contextual(c, inputs, table),
                          found = run_contextual(c, inputs, table);
  CHECK(attention_difference(found.out, expected.out) <= contextual_value_limit);
  CHECK(attention_difference(found.d_q, expected.d_q) <= contextual_gradient_limit);
  CHECK(attention_difference(found.d_k, expected.d_k) <= contextual_gradient_limit);
  CHECK(attention_difference(found.d_v, expected.d_v) <= contextual_gradient_limit);
  // A sum over all rows of all heads.
  CHECK(attention_difference(found.d_table, expected.d_table) <= 5 * contextual_gradient_limit);
}

TEST_CASE("contextual positions agree with plain loops, forward and backward, for every awkward shape") {
  for (const ContextualCase& c : contextual_cases()) check_contextual(c);
}

TEST_CASE("contextual positions: every instruction set of this machine gives the values of the plain loops") {
  for_every_instruction_set([](std::int64_t) {
    for (const ContextualCase& c : contextual_cases()) {
      if (c.attention.query_rows <= 75) check_contextual(c);
    }
  });
}

TEST_CASE("contextual positions agree with the golden values") {
  const auto& given = golden_case("attention", "inputs");
  for (const char* name : {"cope", "cope_nodivide"}) {
    const auto& expected = golden_case("attention", name);
    const ContextualCase c{{name, 1, 3, 3, 10, 10, 8}, 4, expected.at("params").at("divide").get<bool>()};
    AttentionInputs inputs(c.attention);
    inputs.q = golden_storage(given, "q", c.attention.query_shape());
    inputs.k = golden_storage(given, "k", c.attention.key_shape());
    inputs.v = golden_storage(given, "v", c.attention.key_shape());
    inputs.d_out = golden_storage(given, "dout", c.attention.query_shape());
    const Storage table = golden_storage(expected, "e", c.table_shape());
    const ContextualOutcome found = run_contextual(c, inputs, table);
    const auto check = [&](const std::vector<double>& numbers, const char* array, Golden kind) {
      const Storage rounded = filled_storage({static_cast<Index>(numbers.size())}, numbers);
      check_golden(name, rounded.tensor(), expected, array, kind);
    };
    check(found.out, "out", Golden::value);
    check(found.d_q, "dq", Golden::gradient);
    check(found.d_k, "dk", Golden::gradient);
    check(found.d_v, "dv", Golden::gradient);
    check(found.d_table, "d_e", Golden::gradient);
  }
}

TEST_CASE("contextual positions: gradients against central differences") {
  struct Sizes {
    Index query_rows, key_rows, heads, key_heads, width, rows;
  };
  for (const Sizes& s : std::vector<Sizes>{{1, 1, 1, 1, 3, 2},
                                           {9, 9, 2, 1, 8, 4},
                                           {5, 21, 2, 2, 10, 30},
                                           {67, 67, 2, 1, 6, 12},
                                           {70, 140, 1, 1, 5, 24}}) {
    for (const KeyMask& mask : {KeyMask{true, 0, 0}, KeyMask{true, 6, 0}, KeyMask{true, 4, 2}}) {
      for (const bool scaled : {true, false}) {
        const ContextualCase c{
            {"", 2, s.heads, s.key_heads, s.query_rows, s.key_rows, s.width, mask}, s.rows, scaled};
        const Dropout dropout{mask.window == 0 ? 0.25 : 0.0, random_key(1, "contextual"), 0};
        AttentionInputs made(c.attention);
        std::vector<Storage> inputs;
        inputs.push_back(std::move(made.q));
        inputs.push_back(std::move(made.k));
        inputs.push_back(std::move(made.v));
        inputs.push_back(contextual_table(c));
        gradcheck(fmt::format("contextual positions, Tq {} Tk {} N {} window {} sinks {} scaled {}",
                              s.query_rows, s.key_rows, s.rows, mask.window, mask.sinks, scaled),
                  inputs,
                  [&](Tape&, std::span<const Var> vars) {
                    return attention(vars[0], vars[1], vars[2], contextual_terms(c, vars[3]), dropout);
                  },
                  {.elements = 24});
      }
    }
  }
}

TEST_CASE("contextual positions: explicit positions change nothing, not a bit") {
  ContextualCase c{{"", 2, 2, 1, 131, 131, 8}, 40};
  const AttentionInputs inputs(c.attention);
  const Storage table = contextual_table(c);
  const ContextualOutcome plain = run_contextual(c, inputs, table);
  for (Index i = 0; i < 131; ++i) c.attention.key_positions.push_back(5 * i);
  c.attention.query_positions = c.attention.key_positions;
  const ContextualOutcome moved = run_contextual(c, inputs, table);
  CHECK(moved.out == plain.out);
  CHECK(moved.d_q == plain.d_q);
  CHECK(moved.d_table == plain.d_table);
}

TEST_CASE("contextual positions repeat bit for bit for every thread count, and agree across them") {
  for (const ContextualCase& c : {ContextualCase{{"few heads", 1, 1, 1, 200, 200, 16}, 50},
                                  ContextualCase{{"uneven", 1, 6, 3, 150, 150, 10}, 30}}) {
    const AttentionInputs inputs(c.attention);
    const Storage table = contextual_table(c);
    const ContextualOutcome reference = naive_contextual(c, inputs, table);
    for (const int threads : {1, 2, 3, 4}) {
      const ThreadSetting setting(threads);
      const ContextualOutcome first = run_contextual(c, inputs, table),
                              second = run_contextual(c, inputs, table);
      CHECK(first.out == second.out);
      CHECK(first.d_q == second.d_q);
      CHECK(first.d_k == second.d_k);
      CHECK(first.d_table == second.d_table);
      CHECK(attention_difference(first.d_table, reference.d_table) <= 5 * contextual_gradient_limit);
      CHECK(attention_difference(first.d_k, reference.d_k) <= 5 * contextual_gradient_limit);
    }
  }
}

TEST_CASE("contextual positions: chunks over the keys so far, as values or in a cache, equal the whole") {
  for (const KeyMask& mask : {KeyMask{}, KeyMask{true, 30, 2}}) {
    const ContextualCase c{{"", 1, 4, 2, 150, 150, 8, mask}, 21};
    const AttentionInputs inputs(c.attention);
    const Storage table = contextual_table(c);
    const std::vector<double> whole = run_contextual(c, inputs, table).out;
    for (const auto& [begin, end] : {std::pair<Index, Index>{0, 1}, {1, 70}, {70, 131}, {149, 150}}) {
      const Index rows = end - begin;
      Storage q({1, 4, rows, 8});
      std::vector<double> expected;
      for (Index h = 0; h < 4; ++h) {
        std::copy_n(inputs.q.data() + (h * 150 + begin) * 8, rows * 8, q.data() + h * rows * 8);
        const auto first = whole.begin() + (h * 150 + begin) * 8;
        expected.insert(expected.end(), first, first + rows * 8);
      }
      TestTape tape(Recording::off);
      ScoreTerms terms = contextual_terms(c, tape->constant(table.tensor()));
      terms.positions = {{begin, rows, {}}, {0, end, {}}};
      const CachedKeyValues cache{inputs.k.data(), inputs.v.data(), 1, 2, end, 8, 150 * 8};
      const Var out = attention(tape->constant(q.tensor()), cache, terms);
      CHECK(attention_difference(numbers_of(out.value()), expected) <= contextual_value_limit);
    }
  }
}

TEST_CASE("contextual positions: counted by hand, with gates of one half and of one") {
  const auto check = [](double key, const std::vector<double>& rows, const std::vector<double>& added) {
    const auto length = static_cast<Index>(added.size());
    const Shape shape{1, 1, length, 1};
    const Storage q = filled_storage(shape, std::vector<double>(added.size(), 1.0)),
                  k = filled_storage(shape, std::vector<double>(added.size(), key)),
                  v = random_storage(shape, "v"), table = filled_storage({std::ssize(rows), 1}, rows);
    TestTape tape(Recording::off);
    ScoreTerms terms;
    terms.term = ContextualPositions{tape->constant(table.tensor())};
    const Var out =
        attention(tape->constant(q.tensor()), tape->constant(k.tensor()), tape->constant(v.tensor()), terms);
    for (Index i = 0; i < length; ++i) {
      double total = 0, expected = 0;
      for (Index j = 0; j <= i; ++j) {
        const double weight = std::exp(added[static_cast<std::size_t>(i - j)]);
        total += weight;
        expected += weight * static_cast<double>(v.data()[j]);
      }
      CHECK(static_cast<double>(out.value().data[i]) == doctest::Approx(expected / total).epsilon(1e-6));
    }
  };
  // Positions from the query back: 0.5, 1, 1.5, 2, 2, ...; what the table holds there, from its third row on
  // clipped.
  check(0, {0, 1, -1}, {0.5, 1, 0, -1, -1, -1, -1});
  // 1, 2, 3, ...: the furthest key of the last row is at the number of keys.
  check(50, {9, 0.5, -1, 2, 0, 1, 3, -2, 9, 9}, {0.5, -1, 2, 0, 1, 3, -2});
  check(50, {9, 0.5, -1, 2, 0, 1}, {0.5, -1, 2, 0, 1, 1, 1});
}

TEST_CASE("contextual positions: long rows lose nothing to the sum of their gates") {
  // Gates of about one half over 1,500 keys, of which a table of 16 rows sees the last 30.
  const ContextualCase c{{"long", 1, 1, 1, 1500, 1500, 4}, 16};
  AttentionInputs inputs(c.attention);
  for (Index n = 0; n < 1500 * 4; ++n) inputs.q.data()[n] *= Real(0.1);
  const Storage table = random_storage(c.table_shape(), "positions", 10);
  const ContextualOutcome expected = naive_contextual(c, inputs, table),
                          found = run_contextual(c, inputs, table);
  CHECK(attention_difference(found.out, expected.out) <= contextual_value_limit);
  CHECK(attention_difference(found.d_q, expected.d_q) <= contextual_gradient_limit);
  CHECK(attention_difference(found.d_k, expected.d_k) <= contextual_gradient_limit);
}

TEST_CASE("contextual positions: a score that is not a number comes through, and reads nothing outside") {
  const ContextualCase c{{"", 1, 1, 1, 70, 70, 8}, 5};
  AttentionInputs inputs(c.attention);
  inputs.k.data()[3 * 8] = std::numeric_limits<Real>::quiet_NaN();
  inputs.k.data()[66 * 8] = std::numeric_limits<Real>::infinity();
  const ContextualOutcome found = run_contextual(c, inputs, contextual_table(c));
  for (Index row = 0; row < 70; ++row) {
    CHECK(std::isnan(found.out[static_cast<std::size_t>(row * 8)]) == (row >= 3));
    if (row >= 3) CHECK(std::isnan(found.d_q[static_cast<std::size_t>(row * 8)]));
  }
}

TEST_CASE("contextual positions: the probe counts as the output does") {
  const ContextualCase c{{"", 2, 2, 1, 90, 131, 8, {true, 50, 2}}, 12};
  const AttentionInputs inputs(c.attention);
  const Storage table = contextual_table(c);
  std::vector<double> entropy(2), normalized(2), sinks(2), distance(2);
  AttentionProbe probe{3, entropy, normalized, sinks, distance};
  TestTape tape(Recording::off);
  const Var out = attention(tape->constant(inputs.q.tensor()), tape->constant(inputs.k.tensor()),
                            tape->constant(inputs.v.tensor()),
                            contextual_terms(c, tape->constant(table.tensor())), {}, &probe);
  CHECK(numbers_of(out.value()) == run_contextual(c, inputs, table).out);
  double expected = 0;  // the weight on the first three keys of the sequence, head 0
  const std::vector<double> q = numbers_of(inputs.q.tensor()), k = numbers_of(inputs.k.tensor()),
                            v = numbers_of(inputs.v.tensor()), e = numbers_of(table.tensor());
  for (Index b = 0; b < 2; ++b) {
    for (Index i = 0; i < 90; ++i) {
      const contextual::Row row(c, q.data() + (b * 2 * 90 + i) * 8, k.data() + b * 131 * 8,
                                v.data() + b * 131 * 8, e.data(), i);
      const std::vector<double> p = naive_softmax(row.score, 131);
      expected += p[0] + p[1] + p[2];
    }
  }
  CHECK(sinks[0] == doctest::Approx(expected).epsilon(sizeof(Real) == 8 ? 1e-12 : 1e-5));
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION
