#include <doctest/doctest.h>

#include <string>

#include "core/error.h"
#include "experiments/duration.h"

using namespace tapeline;

TEST_CASE("duration: hours, minutes and seconds, in this order") {
  CHECK(parse_duration("90s", "--budget") == 90);
  CHECK(parse_duration("10m", "--budget") == 600);
  CHECK(parse_duration("1.5h", "--budget") == 5400);
  CHECK(parse_duration("1h30m", "--budget") == 5400);
  CHECK(parse_duration("1h0m5s", "--budget") == 3605);
  CHECK(parse_duration("0.001s", "--budget") == 0.001);
}

TEST_CASE("duration: a number without a unit and whatever else is no time") {
  for (const char* text : {"", "10", "m", "10 m", "-5m", "1m1h", "1m1m", "10min", "1e3s", "nan", "infs", "0s",
                           "1,5h", "99999999h", "5m "}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_duration(text, "--budget"), ConfigError);
  }
  CHECK_THROWS_WITH_AS(parse_duration("10", "--budget"),
                       "--budget \"10\" is no time; give hours, minutes or seconds: 90s, 10m, 1h30m",
                       ConfigError);
}

TEST_CASE("duration: an estimate is said roughly") {
  CHECK(rough_duration(0.01) == "1 s");
  CHECK(rough_duration(3.2) == "3 s");
  CHECK(rough_duration(44) == "40 s");
  CHECK(rough_duration(94) == "90 s");
  CHECK(rough_duration(18 * 60 + 5) == "18 min");
  CHECK(rough_duration(9000) == "2.5 h");
  CHECK(rough_duration(3.2 * 86400) == "3.2 days");
}
