#include <doctest/doctest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "core/error.h"
#include "tests/support/attention_cases.h"
#include "tests/support/thread_setting.h"

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

constexpr double value_limit = sizeof(Real) == 8 ? 1e-12 : 2e-5;

bool equal_bits(const AttentionOutcome& a, const AttentionOutcome& b) {
  return a.out == b.out && a.d_q == b.d_q && a.d_k == b.d_k && a.d_v == b.d_v &&
         a.d_query_scale == b.d_query_scale && a.d_slopes == b.d_slopes && a.d_table == b.d_table;
}

/// Rows [begin, end) of every head of a [B, H, T, D] tensor.
Storage rows_of(const Storage& all, Index begin, Index end) {
  const Shape& shape = all.shape();
  Storage part({shape[0], shape[1], end - begin, shape[3]});
  const Index heads = shape[0] * shape[1], width = shape[3];
  for (Index h = 0; h < heads; ++h) {
    std::copy_n(all.data() + (h * shape[2] + begin) * width, (end - begin) * width,
                part.data() + h * (end - begin) * width);
  }
  return part;
}

/// The output of query rows [begin, end) over the keys before `end`, as a chunk over a cache computes it.
std::vector<double> chunk(const AttentionCase& c, const AttentionInputs& inputs, Index begin, Index end) {
  const Storage q = rows_of(inputs.q, begin, end), k = rows_of(inputs.k, 0, end),
                v = rows_of(inputs.v, 0, end);
  TestTape tape(Recording::off);
  ScoreTerms terms = attention_terms(*tape, c, inputs);
  terms.positions = {{begin, end - begin, {}}, {0, end, {}}};
  const Var out = attention(tape->constant(q.tensor()), tape->constant(k.tensor()),
                            tape->constant(v.tensor()), terms, c.dropout);
  return numbers_of(out.value());
}

std::vector<double> whole_rows(const AttentionCase& c, const std::vector<double>& out, Index begin,
                               Index end) {
  std::vector<double> rows;
  for (Index h = 0; h < c.batch * c.heads; ++h) {
    const auto first = out.begin() + (h * c.query_rows + begin) * c.width;
    rows.insert(rows.end(), first, first + (end - begin) * c.width);
  }
  return rows;
}

TEST_CASE("attention repeats bit for bit for every thread count, and agrees across them") {
  AttentionCase few{"fewer heads than threads", 1, 1, 1, 200, 200, 16};
  few.table = spread(200, -1, 1);
  AttentionCase uneven{"heads that do not divide", 1, 6, 3, 150, 150, 16};
  uneven.slopes = spread(6, 0.1, 0.5);
  uneven.query_scale = spread(150, 0.5, 1.5);
  uneven.dropout = {0.2, random_key(9, "repeat"), 0};
  for (const AttentionCase& c : {few, uneven}) {
    CAPTURE(c.name);
    const AttentionInputs inputs(c);
    const AttentionOutcome reference = run_attention(c, inputs);
    for (const int threads : {1, 2, 3, 4}) {
      const ThreadSetting setting(threads);
      const AttentionOutcome first = run_attention(c, inputs), second = run_attention(c, inputs);
      CHECK(equal_bits(first, second));
      CHECK(attention_difference(first.out, reference.out) <= value_limit);
      CHECK(attention_difference(first.d_k, reference.d_k) <= 5 * value_limit);
      CHECK(attention_difference(first.d_table, reference.d_table) <= 5 * value_limit);
      CHECK(attention_difference(first.d_slopes, reference.d_slopes) <= 50 * value_limit);
    }
  }
}

TEST_CASE("scores far from zero, up to the end of the range, have weights all the same") {
  AttentionCase c{"huge", 1, 1, 1, 3, 3, 8};
  for (const double huge : {1e20, -1e20, 3e38, -3e38}) {
    CAPTURE(huge);
    c.table = {huge, huge, huge};  // beside which all else is rounded away
    const AttentionInputs inputs(c);
    CHECK(attention_difference(run_attention(c, inputs).out, naive_attention(c, inputs).out) <= value_limit);
  }
}

TEST_CASE("key tiles that a window hides from every row are never read, forward and backward") {
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  AttentionCase c{"window", 1, 1, 1, 64, 320, 16};
  c.mask.window =
      32;  // rows 256 to 319 see keys from 225 on: three tiles of 64 are hidden, the fourth is cut
  AttentionInputs inputs(c);
  const AttentionOutcome whole = run_attention(c, inputs);
  std::fill_n(inputs.k.data(), 192 * c.width, nan);
  std::fill_n(inputs.v.data(), 192 * c.width, nan);
  CHECK(equal_bits(run_attention(c, inputs), whole));
}

TEST_CASE("attention over 16,384 rows needs a few tiles, not length x length") {
  const Index length = 16384;
  const Storage x = random_storage({1, 1, length, 8}, "long");
  Arena arena;
  GradientPool pool;
  Tape tape(arena, pool, Recording::off);
  ScoreTerms terms;
  terms.mask.window = 256;  // the memory is the same without; the time is not
  const Var v = tape.constant(x.tensor());
  attention(v, v, v, terms);
  const auto output = static_cast<std::size_t>(length) * 8 * sizeof(Real);
  CHECK(arena.peak_bytes() < output + (std::size_t{1} << 20) * static_cast<std::size_t>(thread_count()));
}

TEST_CASE("the gradient over 16,384 rows needs a few tiles and each thread's sums, not length x length") {
  const Index length = 16384;
  const Storage x = random_storage({1, 1, length, 8}, "long"),
                weights = random_storage({1, 1, length, 8}, "d_out");
  Arena arena;
  GradientPool pool;
  Tape tape(arena, pool);
  ScoreTerms terms;
  terms.mask.window = 256;
  const Var q = tape.variable(x.tensor()), k = tape.variable(x.tensor()), v = tape.variable(x.tensor());
  tape.backward(weighted_sum(attention(q, k, v, terms), weights.tensor()));
  const auto rows = static_cast<std::size_t>(length) * 8 * sizeof(Real);
  const auto threads = static_cast<std::size_t>(thread_count());
  // Output, log-sum-exp, d_k and d_v of every thread; blocks of the arena double, so up to as much again is
  // left over.
  CHECK(arena.peak_bytes() < 2 * ((2 + 2 * threads) * rows + (threads << 20)));
  CHECK(arena.peak_bytes() <
        static_cast<std::size_t>(length) * static_cast<std::size_t>(length) * sizeof(Real) / 16);
  CHECK(pool.peak_bytes() <= 5 * rows);
}

TEST_CASE("chunks over the keys so far equal the whole, dropout included") {
  for (const bool dropped : {false, true}) {
    AttentionCase c{"", 2, 4, 2, 150, 150, 8};
    c.slopes = spread(4, 0.1, 0.5);
    if (dropped) c.dropout = {0.4, random_key(2, "chunks"), 0};
    for (const KeyMask& mask : {KeyMask{}, KeyMask{true, 30, 2}}) {
      c.mask = mask;
      const AttentionInputs inputs(c);
      const std::vector<double> whole = run_attention(c, inputs).out;
      for (const auto& [begin, end] : {std::pair<Index, Index>{0, 1}, {1, 70}, {70, 131}, {131, 150}}) {
        CHECK(attention_difference(chunk(c, inputs, begin, end), whole_rows(c, whole, begin, end)) <=
              value_limit);
      }
    }
  }
}

TEST_CASE("dropout decisions do not depend on the cut into micro-batches, and survivors are scaled") {
  AttentionCase both{"", 2, 2, 2, 70, 70, 8};
  both.dropout = {0.25, random_key(4, "micro"), 3};
  const AttentionInputs inputs(both);
  const std::vector<double> whole = run_attention(both, inputs).out;
  AttentionCase second = both;
  second.batch = 1;
  second.dropout.first_sequence = 4;
  AttentionInputs part(second);
  const Index numbers = 2 * 70 * 8;
  std::copy_n(inputs.q.data() + numbers, numbers, part.q.data());
  std::copy_n(inputs.k.data() + numbers, numbers, part.k.data());
  std::copy_n(inputs.v.data() + numbers, numbers, part.v.data());
  CHECK(run_attention(second, part).out == std::vector<double>(whole.begin() + numbers, whole.end()));
  // A row that sees itself alone has weight 1: dropped to 0, or kept as 1 / (1 - 0.25).
  for (Index row = 0; row < 4; ++row) {
    const double ratio =
        whole[static_cast<std::size_t>(row * 70 * 8)] / static_cast<double>(inputs.v.data()[row * 70 * 8]);
    CHECK((std::abs(ratio) < 1e-6 || std::abs(ratio - 4.0 / 3) < 1e-5));
  }
}

TEST_CASE("explicit positions equal to the row numbers change nothing") {
  for (const bool table : {false, true}) {
    AttentionCase c{"", 2, 2, 1, 131, 131, 8};
    if (table) {
      c.table = spread(2 * 131, -1, 1);
    } else {
      c.slopes = spread(2, 0.1, 0.5);
    }
    const AttentionOutcome plain = run_attention(c, AttentionInputs(c));
    c.key_positions.resize(131);
    std::iota(c.key_positions.begin(), c.key_positions.end(), Index{0});
    c.query_positions = c.key_positions;
    const AttentionOutcome gathered = run_attention(c, AttentionInputs(c));
    CHECK(gathered.out == plain.out);
    CHECK(gathered.d_q == plain.d_q);
    CHECK(attention_difference(gathered.d_table, plain.d_table) <= value_limit);
    CHECK(attention_difference(gathered.d_slopes, plain.d_slopes) <= value_limit);
  }
}

TEST_CASE("a cache with room to grow gives what its rows give, and has no gradient") {
  AttentionCase c{"", 2, 4, 2, 3, 70, 8};
  c.slopes = spread(4, 0.1, 0.5);
  const AttentionInputs inputs(c);
  const Index capacity = 100, heads = c.batch * c.key_heads;
  const Storage keys({heads * capacity * c.width}), values({heads * capacity * c.width});
  std::fill_n(keys.data(), keys.tensor().size(), std::numeric_limits<Real>::quiet_NaN());
  std::fill_n(values.data(), values.tensor().size(), std::numeric_limits<Real>::quiet_NaN());
  for (Index h = 0; h < heads; ++h) {
    const Index rows = c.key_rows * c.width;
    std::copy_n(inputs.k.data() + h * rows, rows, keys.data() + h * capacity * c.width);
    std::copy_n(inputs.v.data() + h * rows, rows, values.data() + h * capacity * c.width);
  }
  const CachedKeyValues cache{keys.data(), values.data(), c.batch,           c.key_heads,
                              c.key_rows,  c.width,       capacity * c.width};
  TestTape off(Recording::off);
  const Var out = attention(off->constant(inputs.q.tensor()), cache, attention_terms(*off, c, inputs));
  CHECK(numbers_of(out.value()) == run_attention(c, inputs).out);
  TestTape on;
  CHECK_THROWS_WITH_AS(
      attention(on->variable(inputs.q.tensor()), cache, attention_terms(*on, c, inputs)),
      "attention: a cache has no gradient; use a tape with Recording::off, or k and v as values", StateError);
}

TEST_CASE("a cached step uses the query's position for the bias, not its row in the step") {
  // Two heads with slopes 1/16 and 1/256, q = 0, values = position: the fourth token over a cache of three.
  const Storage q({1, 2, 1, 1});
  const Storage keys({8}), values({8});
  for (Index n = 0; n < 8; ++n) {
    keys.data()[n] = 1;
    values.data()[n] = static_cast<Real>(n % 4);
  }
  Storage slopes({2});
  slopes.data()[0] = Real{1} / 16;
  slopes.data()[1] = Real{1} / 256;
  TestTape tape(Recording::off);
  ScoreTerms terms;
  terms.positions = {{3, 1, {}}, {0, 4, {}}};
  terms.term = LinearBias{tape->constant(slopes.tensor())};
  const Var out = attention(tape->constant(q.tensor()), {keys.data(), values.data(), 1, 2, 4, 1, 4}, terms);
  CHECK(out.value().data[0] == doctest::Approx(1.578039).epsilon(1e-6));
}

TEST_CASE("the probe sums entropy, sink weight and distance by head, and changes nothing") {
  AttentionCase c{"", 2, 2, 1, 90, 131, 8, {true, 50, 2}};
  c.slopes = spread(2, 0.05, 0.2);
  const AttentionInputs inputs(c);
  std::vector<double> entropy(2), normalized(2), sinks(2), distance(2), far(2);
  AttentionProbe probe{3, entropy, normalized, sinks, distance};
  probe.normalized_distance = far;
  const AttentionOutcome expected = naive_attention(c, inputs, 3);
  const AttentionOutcome found = run_attention(c, inputs, &probe);
  CHECK(found.out == run_attention(c, inputs).out);
  CHECK(largest_difference(far, expected.normalized_distance) <= value_limit);
  CHECK(largest_difference(entropy, expected.entropy) <= value_limit);
  CHECK(largest_difference(normalized, expected.normalized_entropy) <= value_limit);
  CHECK(largest_difference(sinks, expected.sink_mass) <= value_limit);
  CHECK(largest_difference(distance, expected.distance) <= value_limit);
  CHECK(probe.rows == 180);
  CHECK(probe.rows_with_choice == 180);
  // Equal scores: every row is as undecided as it can be, and the first row has no choice.
  AttentionCase flat{"", 1, 2, 2, 70, 70, 8};
  AttentionInputs zeros(flat);
  std::fill_n(zeros.q.data(), zeros.q.tensor().size(), Real{0});
  std::fill(normalized.begin(), normalized.end(), 0.0);
  std::fill(far.begin(), far.end(), 0.0);
  probe.rows = probe.rows_with_choice = 0;
  run_attention(flat, zeros, &probe);
  CHECK(normalized[0] == doctest::Approx(69).epsilon(1e-6));
  CHECK(far[0] == doctest::Approx(69 * 0.5).epsilon(1e-6));
  CHECK(probe.rows == 70);
  CHECK(probe.rows_with_choice == 69);
}

TEST_CASE("the probe of chunks over a windowed cache that has dropped rows is that of the whole") {
  for (const Index sinks : {0, 3}) {
    AttentionCase c{"", 2, 2, 1, 150, 150, 8, {true, 20, sinks}};
    const AttentionInputs inputs(c);
    const AttentionOutcome expected = naive_attention(c, inputs, 4);
    std::vector<double> entropy(2), normalized(2), sink_mass(2), distance(2), far(2);
    AttentionProbe probe{4, entropy, normalized, sink_mass, distance};
    probe.normalized_distance = far;
    for (Index begin = 0; begin < c.query_rows; begin += 50) {
      // The sinks, then the last rows that some query of the chunk sees.
      const Index from = std::max(sinks, begin - c.mask.window + 1);
      std::vector<Index> numbers;
      for (Index row = 0; row < begin + 50; ++row) {
        if (row < sinks || row >= from) numbers.push_back(row);
      }
      const auto held = static_cast<Index>(numbers.size());
      Storage k({c.batch, 1, held, c.width}), v(k.shape());
      for (Index b = 0; b < c.batch; ++b) {
        for (Index j = 0; j < held; ++j) {
          const Index row = (b * c.key_rows + numbers[static_cast<std::size_t>(j)]) * c.width;
          std::copy_n(inputs.k.data() + row, c.width, k.data() + (b * held + j) * c.width);
          std::copy_n(inputs.v.data() + row, c.width, v.data() + (b * held + j) * c.width);
        }
      }
      const Storage q = rows_of(inputs.q, begin, begin + 50);
      TestTape tape(Recording::off);
      ScoreTerms terms = attention_terms(*tape, c, inputs);
      terms.positions = {{begin, 50, {}}, {0, held, {numbers}}};
      attention(tape->constant(q.tensor()), tape->constant(k.tensor()), tape->constant(v.tensor()), terms, {},
                &probe);
    }
    CHECK(largest_difference(entropy, expected.entropy) <= value_limit);
    CHECK(largest_difference(normalized, expected.normalized_entropy) <= value_limit);
    CHECK(largest_difference(sink_mass, expected.sink_mass) <= value_limit);
    CHECK(largest_difference(distance, expected.distance) <= value_limit);
    CHECK(largest_difference(far, expected.normalized_distance) <= value_limit);
    CHECK(probe.rows == 300);
  }
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION
