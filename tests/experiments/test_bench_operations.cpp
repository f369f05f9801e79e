#include <doctest/doctest.h>

#include <optional>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "experiments/bench/attention.h"
#include "experiments/bench/attention_tiles.h"
#include "experiments/bench/floor.h"
#include "experiments/bench/gemm_choices.h"
#include "experiments/bench/limits.h"
#include "experiments/bench/operations.h"
#include "experiments/bench/product_times.h"
#include "experiments/bench/resident_rise.h"
#include "tests/support/kinds.h"
#include "tests/support/thread_setting.h"
#include "train/flops.h"

/// What the benchmarks count, against sums by hand, and what they take as their floor.
namespace tapeline {
namespace {

ModelConfig counted_model() {
  ModelConfig model;
  model.layers = 2;
  model.width = 8;
  model.heads = 2;
  return model;
}

TEST_CASE("bench: pairs that are seen") {
  CHECK(seen_pairs(0, 4, {}) == 1 + 2 + 3 + 4);
  CHECK(seen_pairs(2, 2, {}) == 3 + 4);
  CHECK(seen_pairs(0, 0, {}) == 0);
  CHECK(seen_pairs(0, 5, {.causal = true, .window = 2, .sinks = 0}) == 1 + 2 + 2 + 2 + 2);
  CHECK(seen_pairs(0, 5, {.causal = true, .window = 2, .sinks = 1}) == 1 + 2 + 3 + 3 + 3);
}

TEST_CASE("bench: operations of rows, forward") {
  const ModelConfig model = counted_model();
  // A layer: query, key, value 8 x 24, output 8 x 8, feed-forward twice 8 x 32. The head: 8 x 10.
  const double linear = 2 * (2 * (192 + 64 + 512) + 80);
  // A pair: 2 layers of width 8, two products.
  CHECK(forward_flops(model, 10, 0, 3, {}) == 3 * linear + 2 * 8 * 4 * (1 + 2 + 3));
  CHECK(forward_flops(model, 10, 5, 2, {}) == 2 * linear + 2 * 8 * 4 * (6 + 7));
  CHECK(forward_flops(model, 10, 0, 3, {.causal = true, .window = 1, .sinks = 0}) ==
        3 * linear + 2 * 8 * 4 * 3);
  CHECK(forward_flops(model, 10, 0, 64, {}) ==
        doctest::Approx(64 * token_flops(model, 10, 64).forward()).epsilon(1e-12));
}

TEST_CASE(
    "bench attention: operations, two products forward and five backward; sequences of about 8,192 tokens") {
  Config config;
  config.model = counted_model();
  const AttentionFlops flops = attention_flops(config, 4, 3);
  CHECK(flops.forward == 2 * (2 * 10 * 8) * 3);
  CHECK(flops.backward == 5 * (2 * 10 * 8) * 3);
  CHECK(attention_sequences(64) == 128);
  CHECK(attention_sequences(3000) == 2);
  CHECK(attention_sequences(65536) == 1);
}

TEST_CASE("bench: the products of a step, by every choice, and what the rule takes") {
  const ThreadSetting threads(2);
  ProductTimes products = step_products(counted_model(), 10, {.length = 4, .windows = 6, .micro_batch = 3});
  products.add_linear("large", 256, 64, 64, 0, ProductTimes::Run::forward);  // one whose rows the rule splits
  products.measure();
  const std::vector<ProductTimes::Line> lines = products.lines();
  REQUIRE(lines.size() == 16);
  CHECK(lines[15].times[lines[15].rule].choice.split == GemmSplit::rows);
  CHECK(lines[0].name == "query, key, value, forward");
  CHECK(lines[8].name == "feed-forward in, dW");
  CHECK(lines[8].m == 32);
  CHECK(lines[8].n == 8);
  CHECK(lines[8].k == 12);
  CHECK(lines[8].count == 2 * 2);  // two layers, two micro-batches
  CHECK(lines[14].count == 2);     // the head
  CHECK(lines[8].flops() == 2 * 32 * 8 * 12);
  double flops = 0, seconds = 0;
  for (const ProductTimes::Line& line : lines) {
    REQUIRE(line.times.size() == gemm_choices().size());
    flops += line.flops() * static_cast<double>(line.count);
    seconds += line.fastest_seconds() * static_cast<double>(line.count);
    CHECK(line.rule_loss() >= 0);
    const bool of_weight = line.name.ends_with("dW");  // dY^T X
    const GemmChoice rule = choose_gemm({.transpose_a = of_weight,
                                         .m = line.m,
                                         .n = line.n,
                                         .k = line.k,
                                         .lda = of_weight ? line.m : line.k});
    CHECK(line.times[line.rule].choice.library == rule.library);
    CHECK(line.times[line.rule].choice.split == rule.split);
    for (const ProductTimes::Time& time : line.times) CHECK(time.seconds >= line.fastest_seconds());
  }
  CHECK(flops == 24 * 3 * token_flops(counted_model(), 10, 4).linear);
  CHECK(products.seconds() / seconds == doctest::Approx(1));
}

TEST_CASE("bench generate: its floor reads every weight once, in both orders of the operands") {
  Floor floor = token_floor(counted_model(), 10);
  floor.measure();
  double flops = 0;
  for (const Floor::Line& line : floor.lines()) flops += line.flops * static_cast<double>(line.count);
  CHECK(flops == token_flops(counted_model(), 10, 1).linear);
  CHECK(floor.products.lines()[0].times.size() == 2 * gemm_choices().size());
  CHECK(floor.seconds() > 0);
}

TEST_CASE("bench evaluate: the floor of a window is made of whole chunks and a rest") {
  Config config;
  config.model = counted_model();
  Floor floor = window_floor(config, 10, 100, 32);
  floor.measure();
  const std::vector<Floor::Line> lines = floor.lines();
  REQUIRE(lines.size() == 11);
  CHECK(lines[0].m == 32);
  CHECK(lines[0].count == 3 * 2);
  CHECK(lines[5].m == 4);
  CHECK(lines[5].count == 2);
  CHECK(lines[10].name == "attention's tiles of a layer, forward");
  double flops = 0;
  for (const Floor::Line& line : lines) flops += line.flops * static_cast<double>(line.count);
  CHECK(flops == forward_flops(config.model, 10, 0, 100, {}));
}

TEST_CASE(
    "bench: attention's tiles for any threads, heads that are split, windows, lengths of no whole tile") {
  for (const int count : {1, 2, 3}) {
    const ThreadSetting threads(count);
    for (const Index heads : {1, 3}) {
      for (const Index length : {1, 64, 200}) {
        for (const Index window : {0, 1, 70}) {
          AttentionTiles tiles({.heads = heads, .length = length, .head_width = 4, .window = window},
                               AttentionTiles::Run::training);
          tiles.measure();
          tiles.measure();
          CHECK(tiles.forward().seconds > 0);
          CHECK(tiles.backward().seconds > 0);
        }
      }
    }
  }
  AttentionTiles forward({.heads = 1, .length = 3, .head_width = 2}, AttentionTiles::Run::forward);
  forward.measure();
  CHECK(forward.backward().name.empty());
}

TEST_CASE("bench: how far resident memory rises") {
  const ResidentRise rise;
  const std::optional<double> before = rise.bytes();
  if (!before) return;  // a system without /proc/self/clear_refs
  constexpr std::size_t size = std::size_t{64} << 20;
  { const std::vector<char> touched(size, 1); }
  CHECK(*rise.bytes() >= *before + 0.9 * static_cast<double>(size));
  const ResidentRise after;
  CHECK(*after.bytes() < 0.5 * static_cast<double>(size));
}

TEST_CASE("bench: what this machine's memory does not hold is refused") {
  CHECK_NOTHROW(require_room("this", 1e6));
  CHECK_THROWS_AS(require_room("this", 1e18), ConfigError);
}

}  // namespace
}  // namespace tapeline
