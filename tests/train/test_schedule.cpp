#include <doctest/doctest.h>

#include "core/error.h"
#include "train/schedule.h"

namespace tapeline {
namespace {

TEST_CASE("schedule: one advance an update, warm-up then cosine") {
  const Schedule schedule({.kind = "cosine", .warmup = 0.1, .floor = 0.1}, 1e-3, 100);
  CHECK(schedule.warmup_updates() == 10);
  CHECK(schedule.rate(1) == doctest::Approx(1e-4));
  CHECK(schedule.rate(5) == doctest::Approx(5e-4));
  CHECK(schedule.rate(10) == doctest::Approx(1e-3));
  CHECK(schedule.rate(50) == doctest::Approx(6.28142e-4).epsilon(1e-5));
  CHECK(schedule.rate(55) == doctest::Approx(5.5e-4));
  CHECK(schedule.rate(100) == doctest::Approx(1e-4));
  CHECK(schedule.rate(101) == doctest::Approx(1e-4));
}

TEST_CASE("schedule: no warm-up, and nothing but warm-up") {
  CHECK(Schedule({.kind = "cosine", .warmup = 0, .floor = 0}, 1, 10).rate(1) < 1);
  CHECK(Schedule({.kind = "cosine", .warmup = 0, .floor = 0}, 1, 10).rate(10) == 0);
  CHECK(Schedule({.kind = "cosine", .warmup = 1, .floor = 0}, 1, 10).rate(10) == 1);
}

TEST_CASE("schedule: what it does not have or cannot mean is refused") {
  CHECK_THROWS_WITH_AS(Schedule({.kind = "wsd"}, 1, 10),
                       "schedule.kind is \"wsd\", which this version does not have; it has \"cosine\"",
                       ConfigError);
  CHECK_THROWS_AS(Schedule({.kind = "cosine", .warmup = -0.1}, 1, 10), ConfigError);
  CHECK_THROWS_AS(Schedule({.kind = "cosine", .floor = 2}, 1, 10), ConfigError);
}

}  // namespace
}  // namespace tapeline
