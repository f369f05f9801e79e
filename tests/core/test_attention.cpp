#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/attention_cases.h"
#include "tests/support/golden.h"
#include "tests/support/instruction_sets.h"

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

constexpr double value_limit = sizeof(Real) == 8 ? 1e-12 : 2e-5;
constexpr double gradient_limit = sizeof(Real) == 8 ? 1e-11 : 1e-4;

/// The case of a golden file: 3 heads, 10 rows, width 8.
void check_golden_case(const std::string& name, AttentionCase c, const char* slope_gradient = nullptr) {
  CAPTURE(name);
  const auto& given = golden_case("attention", "inputs");
  const auto& expected = golden_case("attention", name);
  c.heads = c.key_heads = 3;
  c.query_rows = c.key_rows = 10;
  c.width = 8;
  AttentionInputs inputs(c);
  inputs.q = golden_storage(given, "q", c.query_shape());
  inputs.k = golden_storage(given, "k", c.key_shape());
  inputs.v = golden_storage(given, "v", c.key_shape());
  inputs.d_out = golden_storage(given, "dout", c.query_shape());
  const AttentionOutcome found = run_attention(c, inputs);
  const auto check = [&](const std::vector<double>& numbers, const char* array, Golden kind) {
    const Storage rounded = filled_storage({static_cast<Index>(numbers.size())}, numbers);
    check_golden(name, rounded.tensor(), expected, array, kind);
  };
  check(found.out, "out", Golden::value);
  check(found.d_q, "dq", Golden::gradient);
  check(found.d_k, "dk", Golden::gradient);
  check(found.d_v, "dv", Golden::gradient);
  if (slope_gradient != nullptr) check(found.d_slopes, slope_gradient, Golden::gradient);
}

TEST_CASE("attention agrees with plain loops, forward and backward, for every option and awkward shape") {
  for (const AttentionCase& c : attention_cases()) {
    CAPTURE(c.name);
    const AttentionInputs inputs(c);
    const AttentionOutcome expected = naive_attention(c, inputs);
    const AttentionOutcome found = run_attention(c, inputs);
    CHECK(attention_difference(found.out, expected.out) <= value_limit);
    CHECK(attention_difference(found.d_q, expected.d_q) <= gradient_limit);
    CHECK(attention_difference(found.d_k, expected.d_k) <= gradient_limit);
    CHECK(attention_difference(found.d_v, expected.d_v) <= gradient_limit);
    CHECK(attention_difference(found.d_query_scale, expected.d_query_scale) <= gradient_limit);
    CHECK(attention_difference(found.d_slopes, expected.d_slopes) <= gradient_limit * 10);
    CHECK(attention_difference(found.d_table, expected.d_table) <= gradient_limit);
  }
}

TEST_CASE("every instruction set of this machine gives the values of the plain loops") {
  for_every_instruction_set([](std::int64_t) {
    for (const AttentionCase& c : attention_cases()) {
      if (c.query_rows > 75 && c.slopes.empty()) continue;
      CAPTURE(c.name);
      const AttentionInputs inputs(c);
      const AttentionOutcome expected = naive_attention(c, inputs), found = run_attention(c, inputs);
      CHECK(attention_difference(found.out, expected.out) <= value_limit);
      CHECK(attention_difference(found.d_q, expected.d_q) <= gradient_limit);
      CHECK(attention_difference(found.d_k, expected.d_k) <= gradient_limit);
      CHECK(attention_difference(found.d_v, expected.d_v) <= gradient_limit);
    }
  });
}

TEST_CASE("attention agrees with the golden values") {
  check_golden_case("none_causal", {});
  AttentionCase full;
  full.mask.causal = false;
  check_golden_case("none_full", full);
  for (const char* name : {"alibi_causal", "alibi_symmetric", "alibi_learned", "alibi_randomized"}) {
    const auto& expected = golden_case("attention", name);
    const bool learned = std::string(name) == "alibi_learned";
    AttentionCase c;
    c.mask.causal = expected.at("params").at("causal").get<bool>();
    if (std::string(name) == "alibi_randomized") {
      c.key_positions = c.query_positions = golden_indices(expected, "positions");
      c.slopes = golden_numbers(golden_case("attention", "alibi_causal"), "slopes");
    } else {
      c.slopes = golden_numbers(expected, learned ? "slope" : "slopes");
    }
    check_golden_case(name, c, learned ? "d_slope" : nullptr);
  }
  for (const char* name : {"window4", "window4_sink1"}) {
    const auto& params = golden_case("attention", name).at("params");
    AttentionCase c;
    c.mask = {true, params.at("window").get<Index>(), params.at("sinks").get<Index>()};
    check_golden_case(name, c);
  }
  AttentionCase scaled;
  scaled.query_scale = golden_numbers(golden_case("attention", "logn_clip"), "factor");
  check_golden_case("logn_clip", scaled);
}

TEST_CASE("a distance table read from the golden buckets gives the golden values of T5 and Sandwich") {
  for (const char* name : {"t5_causal", "t5_bidirectional", "sandwich"}) {
    const auto& expected = golden_case("attention", name);
    AttentionCase c;
    c.mask.causal = expected.at("params").at("causal").get<bool>();
    c.first_distance = c.mask.causal ? 0 : -9;
    const bool by_bucket = std::string(name) != "sandwich";
    const std::vector<double> bias = golden_numbers(expected, by_bucket ? "table" : "bias");
    for (Index h = 0; h < 3; ++h) {
      for (Index distance = c.first_distance; distance <= 9; ++distance) {
        const Index i = std::max<Index>(distance, 0), j = i - distance;
        const auto pair = static_cast<std::size_t>(i * 10 + j);
        c.table.push_back(
            by_bucket ? bias[static_cast<std::size_t>(h * 8 + golden_indices(expected, "bucket")[pair])]
                      : bias[static_cast<std::size_t>(h * 100) + pair]);
      }
    }
    c.heads = 3;
    check_golden_case(name, c);
  }
}

TEST_CASE("a sliding window sees exactly its number of keys, the query itself counted") {
  // Scores 0 and values that are row numbers: the output is the mean row seen, 1 / the largest weight the
  // count.
  AttentionCase c{"window 4", 1, 1, 1, 8, 8, 8, {true, 4, 0}};
  AttentionInputs inputs(c);
  std::fill_n(inputs.q.data(), 64, Real{0});
  std::fill_n(inputs.v.data(), 64, Real{0});
  for (Index j = 0; j < 8; ++j) inputs.v.data()[j * 8 + j] = 1;  // output feature j: the weight of key j
  const std::vector<double> out = run_attention(c, inputs).out;
  Index total = 0;
  for (Index i = 0; i < 8; ++i) {
    Index seen = 0;
    for (Index j = 0; j < 8; ++j) seen += out[static_cast<std::size_t>(i * 8 + j)] > 0 ? 1 : 0;
    CHECK(seen == std::min<Index>(i + 1, 4));
    total += seen;
  }
  CHECK(total == 26);
}

TEST_CASE("rows that see nothing give 0 and gradient 0") {
  AttentionCase c{"distances 0 to 2 forbidden", 1, 2, 2, 70, 70, 8};
  c.table = spread(140, -1, 1);
  for (std::size_t h = 0; h < 2; ++h) {
    for (std::size_t d = 0; d < 3; ++d) c.table[h * 70 + d] = -std::numeric_limits<double>::infinity();
  }
  const AttentionInputs inputs(c);
  const AttentionOutcome expected = naive_attention(c, inputs), found = run_attention(c, inputs);
  CHECK(attention_difference(found.out, expected.out) <= value_limit);
  CHECK(attention_difference(found.d_q, expected.d_q) <= gradient_limit);
  CHECK(attention_difference(found.d_k, expected.d_k) <= gradient_limit);
  CHECK(attention_difference(found.d_v, expected.d_v) <= gradient_limit);
  for (std::size_t n = 0; n < 3 * 8; ++n) {
    CHECK(found.out[n] == 0);
    CHECK(found.d_q[n] == 0);
  }
  std::fill(c.table.begin(), c.table.end(), -std::numeric_limits<double>::infinity());
  const AttentionOutcome nothing = run_attention(c, AttentionInputs(c));
  for (const auto* numbers : {&nothing.out, &nothing.d_q, &nothing.d_k, &nothing.d_v, &nothing.d_table}) {
    CHECK(*numbers == std::vector<double>(numbers->size(), 0.0));
  }
}

TEST_CASE("large scores neither overflow nor lose the row; NaN comes through") {
  AttentionCase c{"large", 1, 1, 1, 20, 20, 8};
  AttentionInputs inputs(c);
  for (Index n = 0; n < 160; ++n) inputs.q.data()[n] *= 100;
  const AttentionOutcome expected = naive_attention(c, inputs), found = run_attention(c, inputs);
  CHECK(attention_difference(found.out, expected.out) <= value_limit * 50);
  inputs.q.data()[10 * 8] = std::numeric_limits<Real>::quiet_NaN();
  const AttentionOutcome poisoned = run_attention(c, inputs);
  CHECK(std::isnan(poisoned.out[10 * 8]));
  CHECK_FALSE(std::isnan(poisoned.out[9 * 8]));
}

TEST_CASE("no rows, no batch: legal and empty") {
  for (const AttentionCase& c :
       {AttentionCase{"no batch", 0, 2, 2, 3, 3, 4}, AttentionCase{"no rows", 1, 2, 2, 0, 0, 4},
        AttentionCase{"no queries", 1, 2, 1, 0, 5, 4}}) {
    const AttentionOutcome found = run_attention(c, AttentionInputs(c));
    CHECK(found.out.empty());
    CHECK(found.d_k == std::vector<double>(found.d_k.size(), 0.0));
  }
}

TEST_CASE("one value may be query, key and value at once") {
  AttentionCase c{"self", 1, 3, 3, 70, 70, 8};
  AttentionInputs inputs(c);
  inputs.k = random_storage(c.key_shape(), "q");
  inputs.v = random_storage(c.key_shape(), "q");
  const AttentionOutcome expected = naive_attention(c, inputs);
  TestTape tape;
  const Var x = tape->variable(inputs.q.tensor());
  tape->backward(weighted_sum(attention(x, x, x, attention_terms(*tape, c, inputs)), inputs.d_out.tensor()));
  std::vector<double> sum = expected.d_q;
  for (std::size_t n = 0; n < sum.size(); ++n) sum[n] += expected.d_k[n] + expected.d_v[n];
  CHECK(attention_difference(numbers_of(x.grad()), sum) <= gradient_limit);
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION
