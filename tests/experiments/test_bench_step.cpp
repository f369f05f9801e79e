#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "experiments/bench/step.h"
#include "experiments/median.h"
#include "tests/support/thread_setting.h"
#include "train/config_loader.h"

namespace tapeline {
namespace {

TEST_CASE("median") {
  CHECK(median({3, 1, 2}) == 2);
  CHECK(median({5}) == 5);
  CHECK(median({}) == 0);
}

TEST_CASE("bench step: a step costs more than its products; a steady one takes nothing from the heap") {
  ConfigSources sources;
  sources.preset = "smoke";
  const ThreadSetting one_thread(1);
  StepTrace no_trace{std::filesystem::path()};
  const StepSpeed speed = measure_step(resolve_config(sources).config, {.repeats = 3}, no_trace);
  CHECK(speed.threads == 1);
  CHECK(speed.tokens == 1024);
  CHECK(speed.tokens_per_second > 0);
  CHECK(speed.gflops > 0);
  REQUIRE(speed.floor_seconds);
  CHECK(*speed.floor_seconds > 0);
  CHECK(speed.gemm_floor_ratio.value() * *speed.floor_seconds / speed.step_seconds == doctest::Approx(1));
  CHECK(speed.peak_bytes > 4 * 4 * 100000.0);  // weights, gradients, two moments of more than 100,000 numbers
  if (speed.allocations_counted) CHECK(speed.heap_allocations == 0);
  // Five linear products in three directions, and attention in two.
  REQUIRE(speed.floor.size() == 17);
  double sum = 0;
  for (const Floor::Line& line : speed.floor) sum += line.seconds * static_cast<double>(line.count);
  CHECK(sum / *speed.floor_seconds == doctest::Approx(1));  // a share: Approx is absolute below 1
  CHECK(speed.floor[0].m == 1024);
  CHECK(speed.floor[0].n == 192);
  CHECK(speed.floor[0].k == 64);
  CHECK(speed.floor[0].count == 2);
  // The ops of a watched step.
  double seconds = 0, flops = 0;
  for (const OpTime& op : speed.ops) {
    seconds += op.seconds;
    flops += op.flops;
    CHECK(op.seconds >= 0);
  }
  CHECK(seconds / speed.ops_seconds == doctest::Approx(1));
  CHECK(flops / (1e9 * speed.gflops * speed.step_seconds) == doctest::Approx(1));
  CHECK(std::ranges::is_sorted(speed.ops, std::greater(), &OpTime::seconds));
  CHECK(speed.watched_step_seconds > 0);
  CHECK(speed.watch_overhead > -1);
}

}  // namespace
}  // namespace tapeline
