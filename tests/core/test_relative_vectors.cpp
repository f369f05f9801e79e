#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "core/error.h"
#include "tests/support/attention_cases.h"
#include "tests/support/gradcheck.h"
#include "tests/support/instruction_sets.h"
#include "tests/support/reference_relative_vectors.h"
#include "tests/support/thread_setting.h"

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

constexpr double relative_value_limit = sizeof(Real) == 8 ? 1e-12 : 2e-5;
constexpr double relative_gradient_limit = sizeof(Real) == 8 ? 1e-11 : 1e-4;

/// Distances -rows .. rows into few rows: each end of the index repeats one.
std::vector<Index> clipped_index(Index first, Index last, Index most) {
  std::vector<Index> index;
  for (Index d = first; d <= last; ++d) index.push_back(std::clamp(d, -most, most) + most);
  return index;
}

/// The same from the far end.
std::vector<Index> reversed_index(std::vector<Index> index) {
  std::ranges::reverse(index);
  return index;
}

/// Every way a tile is served, every part of the term, and shapes where tiles, vectors and bands end badly.
std::vector<RelativeCase> relative_cases() {
  std::vector<RelativeCase> all;
  const KeyMask full{false, 0, 0};
  const auto add = [&](AttentionCase base, bool query, bool key, bool biases, TableForm form) {
    RelativeCase c{std::move(base)};
    c.query = query, c.key = key, c.biases = biases, c.form = form;
    c.first_distance = c.base.mask.causal ? 0 : 1 - c.base.query_rows;
    c.rows = c.base.key_rows - c.first_distance;
    all.push_back(c);
    return all.size() - 1;
  };
  add({"one row", 1, 1, 1, 1, 1, 8}, true, true, true, TableForm::by_head);
  add({"odd rows", 2, 2, 2, 7, 7, 10}, true, true, true, TableForm::side_by_side);
  add({"queries only", 1, 2, 2, 131, 131, 16}, true, false, false, TableForm::by_head);
  add({"keys only", 1, 2, 2, 131, 131, 16}, false, true, false, TableForm::by_head);
  add({"u only", 1, 2, 2, 70, 70, 8}, false, false, true, TableForm::by_head);
  add({"biases", 2, 2, 2, 131, 131, 32}, true, false, true, TableForm::side_by_side);
  add({"shared, grouped heads", 2, 6, 2, 67, 67, 8}, true, true, true, TableForm::shared);
  add({"wide odd head", 1, 1, 1, 80, 80, 37}, true, true, true, TableForm::by_head);
  add({"not causal", 2, 3, 3, 70, 70, 10, full}, true, true, true, TableForm::side_by_side);
  add({"not causal, chunk", 1, 2, 1, 40, 131, 6, full}, true, true, true, TableForm::by_head);
  add({"chunk", 1, 2, 1, 67, 200, 16}, true, true, true, TableForm::by_head);
  add({"few queries", 2, 4, 2, 3, 150, 12}, true, true, true, TableForm::by_head);
  add({"one query", 2, 4, 2, 1, 150, 32}, true, true, true, TableForm::side_by_side);
  add({"window", 1, 2, 2, 150, 150, 8, {true, 37, 0}}, true, true, true, TableForm::by_head);
  add({"window and sinks", 1, 2, 2, 200, 200, 16, {true, 20, 5}}, true, true, true, TableForm::by_head);
  add({"narrow window, many sinks", 1, 1, 1, 150, 150, 8, {true, 3, 70}}, true, true, true,
      TableForm::by_head);
  add({"window, not causal", 1, 2, 2, 90, 90, 8, {false, 10, 2}}, true, true, true, TableForm::by_head);
  AttentionCase scaled{"scale by head and row", 1, 2, 2, 70, 70, 8};
  scaled.query_scale = spread(140, 0.5, 1.5);
  add(scaled, true, true, true, TableForm::by_head);
  scaled = {"scale by row, chunk, not causal", 2, 2, 1, 33, 131, 10, full};
  scaled.query_scale = spread(33, 0.5, 1.5);
  add(scaled, true, true, true, TableForm::shared);

  const auto index = [&](std::size_t which, Index most) {
    RelativeCase& c = all[which];
    const Index last = c.first_distance + c.rows - 1;
    c.query_index = clipped_index(c.first_distance, last, most);
    c.key_index = reversed_index(c.query_index);
    c.rows = 2 * most + 1;
  };
  index(add({"clipped, many tiles", 2, 2, 1, 300, 300, 8}, true, true, true, TableForm::shared), 9);
  index(add({"clipped, not causal", 1, 2, 2, 270, 270, 16, full}, true, true, true, TableForm::by_head), 70);
  AttentionCase clipped_scale{"clipped, scale", 1, 2, 2, 200, 200, 6, full};
  clipped_scale.query_scale = spread(200, 0.5, 1.5);
  index(add(clipped_scale, true, true, true, TableForm::side_by_side), 3);
  index(add({"clipped, one query", 1, 2, 2, 1, 300, 8}, true, true, true, TableForm::shared), 9);
  index(add({"all one row", 1, 2, 2, 150, 150, 8, full}, true, true, true, TableForm::by_head), 0);

  AttentionCase gaps{"gaps", 2, 2, 1, 90, 90, 10};
  gaps.query_scale = spread(180, 0.5, 1.5);
  for (Index i = 0; i < 90; ++i) gaps.key_positions.push_back(2 * i + i % 3);
  gaps.query_positions = gaps.key_positions;
  all[add(gaps, true, true, true, TableForm::by_head)].rows = 190;
  gaps.name = "gaps, clipped";
  const std::size_t gapped = add(gaps, true, true, true, TableForm::shared);
  all[gapped].rows = 190;
  index(gapped, 5);
  AttentionCase kept{"a windowed cache's rows", 1, 2, 2, 70, 140, 8, {true, 40, 5}};
  for (Index j = 0; j < 140; ++j) kept.key_positions.push_back(j < 5 ? j : j + 1000);
  for (Index i = 0; i < 70; ++i) kept.query_positions.push_back(i + 1070);
  all[add(kept, true, true, true, TableForm::by_head)].rows = 1140;
  AttentionCase moved{"moved as a whole", 1, 2, 2, 140, 140, 8};
  for (Index i = 0; i < 140; ++i) moved.key_positions.push_back(i + 77);
  moved.query_positions = moved.key_positions;
  add(moved, true, true, true, TableForm::by_head);
  return all;
}

void check_against_loops(const RelativeCase& c) {
  CAPTURE(c.base.name);
  const RelativeInputs inputs(c);
  const RelativeOutcome expected = naive_relative_attention(c, inputs);
  const RelativeOutcome found = run_relative_attention(c, inputs);
  CHECK(attention_difference(found.out, expected.out) <= relative_value_limit);
  CHECK(attention_difference(found.d_q, expected.d_q) <= relative_gradient_limit);
  CHECK(attention_difference(found.d_k, expected.d_k) <= relative_gradient_limit);
  CHECK(attention_difference(found.d_v, expected.d_v) <= relative_gradient_limit);
  CHECK(attention_difference(found.d_query_scale, expected.d_query_scale) <= relative_gradient_limit);
  CHECK(attention_difference(found.d_r, expected.d_r) <= relative_gradient_limit);
  CHECK(attention_difference(found.d_p, expected.d_p) <= relative_gradient_limit);
  CHECK(attention_difference(found.d_u, expected.d_u) <= relative_gradient_limit);
  CHECK(attention_difference(found.d_v_bias, expected.d_v_bias) <= relative_gradient_limit);
}

bool equal_relative_bits(const RelativeOutcome& a, const RelativeOutcome& b) {
  return a.out == b.out && a.d_q == b.d_q && a.d_k == b.d_k && a.d_v == b.d_v && a.d_r == b.d_r &&
         a.d_p == b.d_p && a.d_u == b.d_u && a.d_v_bias == b.d_v_bias;
}

TEST_CASE("relative vectors agree with plain loops, forward and backward, for every part and awkward shape") {
  for (const RelativeCase& c : relative_cases()) check_against_loops(c);
}

TEST_CASE("relative vectors: every instruction set of this machine gives the values of the plain loops") {
  for_every_instruction_set([](std::int64_t) {
    for (const RelativeCase& c : relative_cases()) {
      if (c.base.query_rows <= 140) check_against_loops(c);
    }
  });
}

TEST_CASE("relative vectors: gradients against central differences") {
  const KeyMask full{false, 0, 0};
  const auto check = [](const RelativeCase& c) {
    CAPTURE(c.base.name);
    RelativeInputs made(c);
    std::vector<Storage> inputs;
    for (Storage* part : {&made.base.q, &made.base.k, &made.base.v, &made.base.query_scale, &made.r, &made.p,
                          &made.u, &made.v}) {
      if (part->data() != nullptr) inputs.push_back(std::move(*part));
    }
    const bool scaled = !c.base.query_scale.empty();
    gradcheck("attention, " + c.base.name, inputs,
              [&](Tape&, std::span<const Var> vars) {
                std::size_t next = 3;
                const auto take = [&](bool is_there) { return is_there ? vars[next++] : Var{}; };
                const Var query_scale = take(scaled), r = take(c.query), p = take(c.key), u = take(c.biases),
                          v = take(c.biases && c.query);
                return attention(vars[0], vars[1], vars[2], relative_terms(c, query_scale, r, p, u, v),
                                 c.base.dropout);
              },
              {.elements = 16});
  };
  AttentionCase base{"causal", 1, 2, 1, 67, 67, 6};
  base.query_scale = spread(67, 0.5, 1.5);
  RelativeCase c{base, 67};
  c.key = c.biases = true;
  check(c);
  c.base.name = "dropout";
  c.base.query_scale.clear();
  c.base.dropout = {0.25, random_key(1, "relative"), 0};
  check(c);
  c.base = {"full, chunk, clipped", 2, 2, 2, 9, 21, 8, full};
  c.base.query_scale = spread(18, 0.5, 1.5);
  c.first_distance = -8;
  c.query_index = clipped_index(-8, 20, 4);
  c.key_index = reversed_index(c.query_index);
  c.rows = 9;
  c.form = TableForm::side_by_side;
  check(c);
  c.base = {"gaps", 1, 2, 1, 12, 12, 4};
  for (Index i = 0; i < 12; ++i) c.base.key_positions.push_back(2 * i + i % 3);
  c.base.query_positions = c.base.key_positions;
  c.base.query_scale = spread(12, 0.5, 1.5);
  c.query_index.clear(), c.key_index.clear();
  c.first_distance = 0, c.rows = 30;
  c.form = TableForm::shared;
  check(c);
}

TEST_CASE("relative vectors: a learned part has its gradient though nothing else wants one") {
  RelativeCase c{{"", 1, 2, 1, 70, 70, 8}, 70};
  c.key = c.biases = true;
  const RelativeInputs inputs(c);
  const RelativeOutcome expected = naive_relative_attention(c, inputs);
  for (int alone = 0; alone < 4; ++alone) {
    TestTape tape;
    const Storage* parts[] = {&inputs.r, &inputs.p, &inputs.u, &inputs.v};
    const std::vector<double>* gradients[] = {&expected.d_r, &expected.d_p, &expected.d_u,
                                              &expected.d_v_bias};
    Var vars[4];
    for (int n = 0; n < 4; ++n) {
      vars[n] = n == alone ? tape->variable(parts[n]->tensor()) : tape->constant(parts[n]->tensor());
    }
    const Var out = attention(tape->constant(inputs.base.q.tensor()), tape->constant(inputs.base.k.tensor()),
                              tape->constant(inputs.base.v.tensor()),
                              relative_terms(c, {}, vars[0], vars[1], vars[2], vars[3]));
    tape->backward(weighted_sum(out, inputs.base.d_out.tensor()));
    CHECK(attention_difference(numbers_of(vars[alone].grad()), *gradients[alone]) <= relative_gradient_limit);
  }
}

TEST_CASE("relative vectors: one table for queries and keys adds both gradients up") {
  RelativeCase c{{"", 1, 2, 2, 70, 70, 8}, 70};
  c.key = true;
  RelativeInputs inputs(c);
  inputs.p = random_storage(c.table_shape(), "r", 0.7);
  const RelativeOutcome expected = naive_relative_attention(c, inputs);
  std::vector<double> sum = expected.d_r;
  for (std::size_t n = 0; n < sum.size(); ++n) sum[n] += expected.d_p[n];
  TestTape tape;
  const Var q = tape->variable(inputs.base.q.tensor()), k = tape->variable(inputs.base.k.tensor()),
            v = tape->variable(inputs.base.v.tensor()), table = tape->variable(inputs.r.tensor());
  tape->backward(weighted_sum(attention(q, k, v, relative_terms(c, {}, table, table, {}, {})),
                              inputs.base.d_out.tensor()));
  CHECK(attention_difference(numbers_of(table.grad()), sum) <= relative_gradient_limit);
}

TEST_CASE("relative vectors repeat bit for bit for every thread count, and agree across them") {
  RelativeCase c{{"", 1, 6, 3, 150, 150, 16}, 150};
  c.key = c.biases = true;
  const RelativeInputs inputs(c);
  const RelativeOutcome reference = run_relative_attention(c, inputs);
  for (const int threads : {1, 2, 3, 4}) {
    const ThreadSetting setting(threads);
    const RelativeOutcome first = run_relative_attention(c, inputs);
    CHECK(equal_relative_bits(first, run_relative_attention(c, inputs)));
    CHECK(attention_difference(first.out, reference.out) <= relative_value_limit);
    CHECK(attention_difference(first.d_r, reference.d_r) <= relative_gradient_limit);
    CHECK(attention_difference(first.d_p, reference.d_p) <= relative_gradient_limit);
  }
}

TEST_CASE("relative vectors: explicit positions equal to the row numbers change nothing") {
  RelativeCase c{{"", 2, 2, 1, 131, 131, 8}, 131};
  c.key = c.biases = true;
  const RelativeOutcome plain = run_relative_attention(c, RelativeInputs(c));
  c.base.key_positions.resize(131);
  std::iota(c.base.key_positions.begin(), c.base.key_positions.end(), Index{0});
  c.base.query_positions = c.base.key_positions;
  CHECK(equal_relative_bits(run_relative_attention(c, RelativeInputs(c)), plain));
}

TEST_CASE("relative vectors over a cache: chunks of any size, single rows too, are the rows of the whole") {
  RelativeCase c{{"", 1, 4, 2, 150, 150, 8}, 150};
  c.key = c.biases = true;
  const RelativeInputs inputs(c);
  const std::vector<double> whole = run_relative_attention(c, inputs).out;
  const Index width = c.base.width, rows = c.base.key_rows;
  for (const auto& [begin, end] : {std::pair<Index, Index>{0, 1}, {1, 3}, {3, 70}, {70, 149}, {149, 150}}) {
    TestTape tape(Recording::off);
    Storage q({1, 4, end - begin, width});
    for (Index h = 0; h < 4; ++h) {
      std::copy_n(inputs.base.q.data() + (h * rows + begin) * width, (end - begin) * width,
                  q.data() + h * (end - begin) * width);
    }
    ScoreTerms terms =
        relative_terms(c, {}, tape->constant(inputs.r.tensor()), tape->constant(inputs.p.tensor()),
                       tape->constant(inputs.u.tensor()), tape->constant(inputs.v.tensor()));
    terms.positions = {{begin, end - begin, {}}, {0, end, {}}};
    const Var out =
        attention(tape->constant(q.tensor()),
                  {inputs.base.k.data(), inputs.base.v.data(), 1, 2, end, width, rows * width}, terms);
    std::vector<double> expected;
    for (Index h = 0; h < 4; ++h) {
      const auto first = whole.begin() + (h * rows + begin) * width;
      expected.insert(expected.end(), first, first + (end - begin) * width);
    }
    CHECK(attention_difference(numbers_of(out.value()), expected) <= relative_value_limit);
  }
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION
