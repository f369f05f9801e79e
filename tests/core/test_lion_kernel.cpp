#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/kernels/lion.h"
#include "tests/support/instruction_sets.h"
#include "tests/support/reference.h"
#include "tests/support/thread_setting.h"

using namespace tapeline;

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

struct State {
  explicit State(Index count)
      : value(random_storage({count}, "value")), gradient(Shape{count}), moment(Shape{count}) {}
  LionSpans spans() { return {value.data(), gradient.data(), moment.data(), value.shape().size()}; }
  Storage value, gradient, moment;
};

double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

}  // namespace

TEST_CASE("lion: two updates by hand: the sign is that of beta1's average, the moment keeps beta2's") {
  State s(1);
  s.value.data()[0] = 1;
  s.gradient.data()[0] = 1;
  const Lion update{.lr = 0.1, .beta1 = 0.9, .beta2 = 0.99};
  lion(update, s.spans());
  CHECK(double(s.value.data()[0]) == doctest::Approx(.9).epsilon(1e-6));
  CHECK(double(s.moment.data()[0]) == doctest::Approx(.01).epsilon(1e-5));
  CHECK(s.gradient.data()[0] == 0);
  s.gradient.data()[0] = static_cast<Real>(-.5);
  lion(update, s.spans());  // direction .009 - .05 < 0
  CHECK(double(s.value.data()[0]) == doctest::Approx(1).epsilon(1e-6));
  CHECK(double(s.moment.data()[0]) == doctest::Approx(.0049).epsilon(1e-5));
  s.gradient.data()[0] = static_cast<Real>(-.04);
  lion(update, s.spans());  // direction .00441 - .004 > 0: the old moment outweighs the gradient
  CHECK(double(s.value.data()[0]) == doctest::Approx(.9).epsilon(1e-6));
}

TEST_CASE("lion: nothing moves without a direction but by decay, and every size of gradient by the rate") {
  State s(3);
  for (int i = 0; i < 3; ++i) s.value.data()[i] = 1;
  s.gradient.data()[1] = static_cast<Real>(1e-20);
  s.gradient.data()[2] = static_cast<Real>(-1e20);
  lion({.lr = 0.1, .decay = 0.5}, s.spans());
  CHECK(double(s.value.data()[0]) == doctest::Approx(.95));
  CHECK(double(s.value.data()[1]) == doctest::Approx(.85));
  CHECK(double(s.value.data()[2]) == doctest::Approx(1.05));
}

TEST_CASE("lion: agrees with a plain loop, on any number of threads with the same bits") {
  const Index count = 40003;
  std::vector<double> value, moment(static_cast<std::size_t>(count)), alone;
  for (const int threads : {1, 2, 3}) {
    const ThreadSetting setting(threads);
    State s(count);
    if (value.empty()) value = numbers_of(s.value.tensor());
    for (int step = 0; step < 3; ++step) {
      const Storage gradient = random_storage({count}, step == 1 ? "even" : "odd", 30);
      std::copy_n(gradient.data(), count, s.gradient.data());
      lion({.lr = 3e-3, .beta1 = 0.8, .beta2 = 0.95, .decay = 0.1, .gradient_scale = 1.0 / 128}, s.spans());
      for (std::size_t i = 0; threads == 1 && i < value.size(); ++i) {
        const double g = static_cast<double>(gradient.data()[i]) / 128;
        value[i] = value[i] - 3e-3 * 0.1 * value[i] - 3e-3 * sign(0.8 * moment[i] + 0.2 * g);
        moment[i] = 0.95 * moment[i] + 0.05 * g;
      }
    }
    const std::vector<double> found = numbers_of(s.value.tensor());
    CHECK(largest_difference(found, value) <= (sizeof(Real) == 4 ? 2e-6 : 1e-13));
    CHECK(numbers_of(s.gradient.tensor()) == std::vector<double>(static_cast<std::size_t>(count), 0.0));
    if (alone.empty()) alone = found;
    CHECK(found == alone);
  }
}

TEST_CASE("lion: agrees with a plain loop for every instruction set, whatever is left over of a vector") {
  for_every_instruction_set([](std::int64_t) {
    for (const Index count : {1, 3, 4, 7, 8, 9, 16, 17, 37}) {
      State s(count);
      std::vector<double> value = numbers_of(s.value.tensor());
      const Storage gradient = random_storage({count}, "gradient", 3);
      const Storage moment = random_storage({count}, "moment");
      std::copy_n(gradient.data(), count, s.gradient.data());
      std::copy_n(moment.data(), count, s.moment.data());
      lion({.lr = 0.01, .beta1 = 0.7, .beta2 = 0.9, .decay = 0.5, .gradient_scale = 0.5}, s.spans());
      std::vector<double> kept;
      for (std::size_t i = 0; i < value.size(); ++i) {
        const double g = double(gradient.data()[i]) / 2, m = double(moment.data()[i]);
        value[i] = value[i] * (1 - 0.005) - 0.01 * sign(0.7 * m + 0.3 * g);
        kept.push_back(0.9 * m + 0.1 * g);
      }
      CHECK(largest_difference(numbers_of(s.value.tensor()), value) <= rounding());
      CHECK(largest_difference(numbers_of(s.moment.tensor()), kept) <= rounding());
    }
  });
}

TEST_CASE("lion: bounds hold, and a NaN is not turned into a bound") {
  for_every_instruction_set([](std::int64_t) {
    State s(4);
    for (int i = 0; i < 4; ++i) s.value.data()[i] = 1;
    s.gradient.data()[0] = 5;
    s.gradient.data()[1] = -5;
    s.value.data()[2] = std::numeric_limits<Real>::quiet_NaN();
    lion({.lr = 0.5, .lowest = Real{0.75}, .highest = Real{1.25}}, s.spans());
    CHECK(s.value.data()[0] == Real{0.75});
    CHECK(s.value.data()[1] == Real{1.25});
    CHECK(std::isnan(s.value.data()[2]));
    CHECK(s.value.data()[3] == Real{1});
  });
}

}  // namespace tapeline::inline TAPELINE_PRECISION
