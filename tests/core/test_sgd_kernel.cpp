#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/kernels/sgd.h"
#include "tests/support/instruction_sets.h"
#include "tests/support/reference.h"
#include "tests/support/thread_setting.h"

using namespace tapeline;

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

struct State {
  explicit State(Index count)
      : value(random_storage({count}, "value")), gradient(Shape{count}), velocity(Shape{count}) {}
  SgdSpans spans() { return {value.data(), gradient.data(), velocity.data(), value.shape().size()}; }
  Storage value, gradient, velocity;
};

}  // namespace

TEST_CASE("sgd: two updates by hand") {
  State s(1);
  s.value.data()[0] = 1;
  s.gradient.data()[0] = 1;
  sgd({.lr = 0.1, .momentum = 0.9}, s.spans());
  CHECK(double(s.value.data()[0]) == doctest::Approx(.9).epsilon(1e-6));
  CHECK(s.gradient.data()[0] == 0);
  s.gradient.data()[0] = static_cast<Real>(-.5);
  sgd({.lr = 0.1, .momentum = 0.9}, s.spans());  // velocity .9 - .5 = .4
  CHECK(double(s.velocity.data()[0]) == doctest::Approx(.4).epsilon(1e-6));
  CHECK(double(s.value.data()[0]) == doctest::Approx(.86).epsilon(1e-6));
}

TEST_CASE("sgd: without momentum the plain step; decay is decoupled from the velocity") {
  State s(2);
  s.value.data()[0] = s.value.data()[1] = 1;
  s.velocity.data()[0] = 5;  // forgotten
  s.gradient.data()[0] = 4;
  sgd({.lr = 0.1, .momentum = 0, .decay = 0.5, .gradient_scale = 0.5}, s.spans());
  CHECK(double(s.value.data()[0]) == doctest::Approx(.95 - .2));
  CHECK(double(s.value.data()[1]) == doctest::Approx(.95));
  CHECK(s.velocity.data()[1] == 0);
}

TEST_CASE("sgd: agrees with a plain loop, on any number of threads with the same bits") {
  const Index count = 40003;
  std::vector<double> value, velocity(static_cast<std::size_t>(count)), alone;
  for (const int threads : {1, 2, 3}) {
    const ThreadSetting setting(threads);
    State s(count);
    if (value.empty()) value = numbers_of(s.value.tensor());
    for (int step = 0; step < 3; ++step) {
      const Storage gradient = random_storage({count}, step == 1 ? "even" : "odd", 30);
      std::copy_n(gradient.data(), count, s.gradient.data());
      sgd({.lr = 0.03, .momentum = 0.8, .decay = 0.1, .gradient_scale = 1.0 / 128}, s.spans());
      for (std::size_t i = 0; threads == 1 && i < value.size(); ++i) {
        velocity[i] = 0.8 * velocity[i] + static_cast<double>(gradient.data()[i]) / 128;
        value[i] = value[i] - 0.03 * 0.1 * value[i] - 0.03 * velocity[i];
      }
    }
    const std::vector<double> found = numbers_of(s.value.tensor());
    CHECK(largest_difference(found, value) <= (sizeof(Real) == 4 ? 2e-6 : 1e-13));
    CHECK(numbers_of(s.gradient.tensor()) == std::vector<double>(static_cast<std::size_t>(count), 0.0));
    if (alone.empty()) alone = found;
    CHECK(found == alone);
  }
}

TEST_CASE("sgd: agrees with a plain loop for every instruction set, whatever is left over of a vector") {
  for_every_instruction_set([](std::int64_t) {
    for (const Index count : {1, 3, 4, 7, 8, 9, 16, 17, 37}) {
      State s(count);
      std::vector<double> value = numbers_of(s.value.tensor());
      const Storage gradient = random_storage({count}, "gradient", 3);
      const Storage velocity = random_storage({count}, "velocity");
      std::copy_n(gradient.data(), count, s.gradient.data());
      std::copy_n(velocity.data(), count, s.velocity.data());
      sgd({.lr = 0.01, .momentum = 0.9, .decay = 0.5, .gradient_scale = 0.5}, s.spans());
      for (std::size_t i = 0; i < value.size(); ++i) {
        const double v = 0.9 * static_cast<double>(velocity.data()[i]) + double(gradient.data()[i]) / 2;
        value[i] = value[i] * (1 - 0.005) - 0.01 * v;
      }
      CHECK(largest_difference(numbers_of(s.value.tensor()), value) <= rounding());
    }
  });
}

TEST_CASE("sgd: bounds hold, and a NaN is not turned into a bound") {
  for_every_instruction_set([](std::int64_t) {
    State s(4);
    for (int i = 0; i < 4; ++i) s.value.data()[i] = 1;
    s.gradient.data()[0] = 5;
    s.gradient.data()[1] = -5;
    s.gradient.data()[2] = std::numeric_limits<Real>::quiet_NaN();
    sgd({.lr = 0.5, .lowest = Real{0.75}, .highest = Real{1.25}}, s.spans());
    CHECK(s.value.data()[0] == Real{0.75});
    CHECK(s.value.data()[1] == Real{1.25});
    CHECK(std::isnan(s.value.data()[2]));
    CHECK(s.value.data()[3] == Real{1});
  });
}

}  // namespace tapeline::inline TAPELINE_PRECISION
