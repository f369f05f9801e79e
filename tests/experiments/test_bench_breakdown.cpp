#include <doctest/doctest.h>

#include <vector>

#include "core/error.h"
#include "experiments/bench/breakdown.h"

namespace tapeline {
namespace {

/// A step of `total` ns from 0: an op "a" of 10 to 40 with an op "b" of 20 to 25 in it, forward; "a" again,
/// backward, for `backward` ns.
std::vector<Timing> step_of(std::int64_t total, std::int64_t backward) {
  const auto timing = [](const char* name, Timing::Kind kind, Phase phase, Index parent, std::int64_t begin,
                         std::int64_t end) {
    Timing made;
    made.name = name;
    made.kind = kind;
    made.phase = phase;
    made.parent = parent;
    made.begin = begin;
    made.end = end;
    if (kind == Timing::Kind::op) made.flops = 60, made.bytes = 7;
    return made;
  };
  using enum Timing::Kind;
  return {timing("step", group, Phase::step, -1, 0, total),
          timing("forward", group, Phase::forward, 0, 5, 45),
          timing("a", op, Phase::forward, 1, 10, 40),
          timing("b", op, Phase::forward, 2, 20, 25),
          timing("a", op, Phase::backward, 0, 50, 50 + backward),
          timing("a", op, Phase::backward, 0, 60 + backward, 60 + 2 * backward)};
}

TEST_CASE("breakdown: an op has its own time, the rest lies between, and all of it adds up") {
  Breakdown breakdown;
  breakdown.add(step_of(200, 20));
  const std::vector<OpTime> rows = breakdown.rows();
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].name == "between ops");
  CHECK_FALSE(rows[0].phase.has_value());
  CHECK(rows[0].seconds == doctest::Approx(130e-9).epsilon(1e-9));  // 200 - 30 - 40
  CHECK(rows[1].name == "a");
  CHECK(rows[1].phase == Phase::backward);
  CHECK(rows[1].calls == 2);
  CHECK(rows[1].seconds == doctest::Approx(40e-9).epsilon(1e-9));
  CHECK(rows[1].flops == 120);
  CHECK(rows[1].bytes == 14);
  CHECK(rows[1].gflops() == doctest::Approx(3));
  CHECK(rows[2].phase == Phase::forward);
  CHECK(rows[2].seconds == doctest::Approx(25e-9).epsilon(1e-9));
  CHECK(rows[3].name == "b");
  CHECK(rows[3].share == doctest::Approx(0.025));
}

TEST_CASE("breakdown: means over the middle half of the steps, which still add up") {
  Breakdown breakdown;
  for (const std::int64_t total : {300, 100000, 200, 260, 1, 220, 240, 280})
    breakdown.add(step_of(total, total == 1 ? 9000 : 20));
  CHECK(breakdown.step_seconds() == doctest::Approx(250e-9).epsilon(1e-9));  // of 220, 240, 260, 280
  CHECK(breakdown.median_step_seconds() == doctest::Approx(260e-9).epsilon(1e-9));
  double sum = 0, shares = 0;
  for (const OpTime& row : breakdown.rows()) sum += row.seconds, shares += row.share;
  CHECK(sum / breakdown.step_seconds() == doctest::Approx(1));
  CHECK(shares == doctest::Approx(1));
  CHECK(breakdown.rows()[1].seconds == doctest::Approx(40e-9).epsilon(1e-9));
}

TEST_CASE("breakdown: what is no step is refused") {
  Breakdown breakdown;
  CHECK_THROWS_AS(breakdown.add({}), StateError);
  std::vector<Timing> timings = step_of(200, 20);
  timings.erase(timings.begin());
  CHECK_THROWS_AS(breakdown.add(timings), StateError);
}

}  // namespace
}  // namespace tapeline
