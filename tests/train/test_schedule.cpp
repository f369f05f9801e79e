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

TEST_CASE("schedule: constant after the rise, without end") {
  const Schedule schedule({.kind = "constant", .warmup = 0.1}, 1e-3, 100);
  CHECK(schedule.rate(1) == doctest::Approx(1e-4));
  CHECK(schedule.rate(9) == doctest::Approx(9e-4));
  for (const Index update : {10, 11, 55, 100, 1000}) CHECK(schedule.rate(update) == 1e-3);
  CHECK(Schedule({.kind = "constant", .warmup = 0}, 1e-3, 100).rate(1) == 1e-3);
}

TEST_CASE("schedule: inverse square root of the update, met by the rise") {
  const Schedule schedule({.kind = "inverse_sqrt", .warmup = 0.1}, 1e-3, 100);
  CHECK(schedule.rate(5) == doctest::Approx(5e-4));
  CHECK(schedule.rate(10) == 1e-3);
  CHECK(schedule.rate(11) == doctest::Approx(9.534626e-4));
  CHECK(schedule.rate(40) == doctest::Approx(5e-4));
  CHECK(schedule.rate(100) == doctest::Approx(3.162278e-4));
  CHECK(schedule.rate(101) == schedule.rate(100));
  const Schedule at_once({.kind = "inverse_sqrt", .warmup = 0}, 1, 100);
  CHECK(at_once.rate(1) == 1);
  CHECK(at_once.rate(4) == 0.5);
}

TEST_CASE("schedule: warm-up, stable, decay, at the boundaries of each") {
  const auto wsd = [](const std::string& shape) {
    return Schedule({.kind = "wsd", .warmup = 0.1, .floor = 0.1, .decay = 0.2, .decay_shape = shape}, 1e-3,
                    100);
  };
  for (const std::string& shape : decay_shapes()) {
    CAPTURE(shape);
    const Schedule schedule = wsd(shape);
    CHECK(schedule.rate(1) == doctest::Approx(1e-4));
    CHECK(schedule.rate(9) == doctest::Approx(9e-4));
    for (const Index update : {10, 11, 50, 79, 80}) CHECK(schedule.rate(update) == 1e-3);
    for (Index update = 81; update <= 100; ++update) CHECK(schedule.rate(update) < schedule.rate(update - 1));
    CHECK(schedule.rate(100) == doctest::Approx(1e-4));
    CHECK(schedule.rate(101) == schedule.rate(100));
  }
  CHECK(wsd("linear").rate(81) == doctest::Approx(9.55e-4));
  CHECK(wsd("linear").rate(90) == doctest::Approx(5.5e-4));
  CHECK(wsd("sqrt").rate(85) == doctest::Approx(5.5e-4));
  CHECK(wsd("cosine").rate(85) == doctest::Approx(8.681981e-4));
  CHECK(wsd("exponential").rate(90) == doctest::Approx(3.162278e-4));
}

TEST_CASE("schedule: rises and falls that take all, nothing, or round to more than all") {
  const Schedule no_fall({.kind = "wsd", .warmup = 0, .decay = 0}, 1, 10);
  for (const Index update : {1, 5, 10, 11}) CHECK(no_fall.rate(update) == 1);
  const Schedule all_fall({.kind = "wsd", .warmup = 0, .floor = 0, .decay = 1}, 1, 10);
  CHECK(all_fall.rate(1) == doctest::Approx(0.9));
  CHECK(all_fall.rate(10) == 0);
  const Schedule odd({.kind = "wsd", .warmup = 0.5, .floor = 0.1, .decay = 0.5}, 1, 3);
  CHECK(odd.rate(1) == 0.5);
  CHECK(odd.rate(2) == 1);
  CHECK(odd.rate(3) == doctest::Approx(0.1));
}

TEST_CASE("schedule: what it does not have or cannot mean is refused") {
  CHECK_THROWS_WITH_AS(Schedule({.kind = "wds"}, 1, 10),
                       "schedule.kind is \"wds\"; it must be one of cosine, wsd, inverse_sqrt, constant; did "
                       "you mean \"wsd\"?",
                       ConfigError);
  CHECK_THROWS_AS(Schedule({.kind = "cosine", .warmup = -0.1}, 1, 10), ConfigError);
  CHECK_THROWS_AS(Schedule({.kind = "cosine", .floor = 2}, 1, 10), ConfigError);
  CHECK_THROWS_AS(Schedule({.kind = "wsd", .warmup = 0.6, .decay = 0.5}, 1, 10), ConfigError);
  CHECK_THROWS_AS(Schedule({.kind = "wsd", .decay_shape = "steps"}, 1, 10), ConfigError);
  CHECK_THROWS_AS(Schedule({.kind = "wsd", .floor = 0, .decay_shape = "exponential"}, 1, 10), ConfigError);
}

}  // namespace
}  // namespace tapeline
