#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/error.h"
#include "core/ops.h"
#include "tests/support/gradcheck.h"
#include "tests/support/reference.h"
#include "tests/support/thread_setting.h"

using namespace tapeline;

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

std::vector<double> dropped(const Storage& x, const Dropout& how, Index first_row = 0) {
  TestTape tape(Recording::off);
  return numbers_of(dropout(tape->constant(x.tensor()), how, first_row).value());
}

Storage ones(const Shape& shape) {
  Storage storage(shape);
  std::fill_n(storage.data(), shape.size(), Real{1});
  return storage;
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION

TEST_CASE("dropout: survivors are divided by 1 - p and their share is 1 - p") {
  const Storage x = ones({4, 50, 60});
  const std::vector<double> y =
      dropped(x, {.rate = 0.25, .key = random_key(0, "dropout"), .first_sequence = 0});
  int kept = 0;
  for (const double number : y) {
    if (number == 0) continue;
    REQUIRE(number == doctest::Approx(1.333333).epsilon(1e-6));
    ++kept;
  }
  CHECK(std::abs(kept / double(y.size()) - 0.75) < 0.015);
}

TEST_CASE("dropout: rate 1 gives zeros, rate 0 is no op at all; what is not a number shows") {
  Storage x = ones({1, 2, 3});
  CHECK(dropped(x, {.rate = 1, .key = {1}, .first_sequence = 0}) == std::vector<double>(6, 0.0));
  TestTape tape;
  const Var v = tape->variable(x.tensor());
  CHECK(dropout(v, {}).value().data == v.value().data);
  x.data()[2] = std::numeric_limits<Real>::quiet_NaN();
  CHECK(std::isnan(dropped(x, {.rate = 0.5, .key = {1}, .first_sequence = 0})[2]));
}

TEST_CASE("dropout: a rate outside [0, 1] is refused, a shape that is no batch as well") {
  const Storage x = ones({1, 2, 3});
  for (const double rate : {-0.1, 1.5, std::numeric_limits<double>::quiet_NaN()}) {
    CHECK_THROWS_AS(dropped(x, {.rate = rate, .key = {1}, .first_sequence = 0}), ConfigError);
  }
  CHECK_THROWS_WITH_AS(dropped(ones({2, 3}), {.rate = 0.5, .key = {1}, .first_sequence = 0}),
                       "dropout: x is [2, 3]; expected [batch, time, width]", ShapeError);
}

TEST_CASE("dropout: the decision belongs to the place, not to the cut into batches, chunks or threads") {
  const Dropout how{.rate = 0.5, .key = random_key(4, "dropout"), .first_sequence = 0};
  const std::vector<double> whole = dropped(ones({4, 6, 70}), how);
  // Micro-batches of one sequence.
  for (Index sequence = 0; sequence < 4; ++sequence) {
    Dropout later = how;
    later.first_sequence = sequence;
    const std::vector<double> one = dropped(ones({1, 6, 70}), later);
    CHECK(std::equal(one.begin(), one.end(), whole.begin() + sequence * 6 * 70));
  }
  // Rows 2 to 4 of the first sequence.
  const std::vector<double> rows = dropped(ones({1, 3, 70}), how, 2);
  CHECK(std::equal(rows.begin(), rows.end(), whole.begin() + 2 * 70));
  {
    const ThreadSetting setting(3);
    CHECK(dropped(ones({4, 6, 70}), how) == whole);
  }
  Dropout other = how;
  other.key = how.key.child(std::uint64_t{1});
  CHECK(dropped(ones({4, 6, 70}), other) != whole);
}

TEST_CASE("dropout: gradient") {
  const Dropout how{.rate = 0.4, .key = random_key(4, "dropout"), .first_sequence = 3};
  std::array<Storage, 1> in{random_storage({2, 3, 5}, "x")};
  gradcheck("dropout", in, [&](Tape&, std::span<const Var> v) { return dropout(v[0], how); });
  gradcheck("dropout beside another use", in,
            [&](Tape&, std::span<const Var> v) { return multiply(dropout(v[0], how, 7), v[0]); });
  std::array<Storage, 1> empty{Storage({2, 0, 5})};
  gradcheck("dropout of nothing", empty, [&](Tape&, std::span<const Var> v) { return dropout(v[0], how); });
}
