#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/error.h"
#include "core/kernels/adamw.h"
#include "tests/support/instruction_sets.h"
#include "tests/support/reference.h"
#include "tests/support/thread_setting.h"

using namespace tapeline;

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

struct State {
  explicit State(Index count)
      : value(random_storage({count}, "value")),
        gradient(Shape{count}),
        first(Shape{count}),
        second(Shape{count}) {}
  AdamWSpans spans() {
    return {value.data(), gradient.data(), first.data(), second.data(), value.shape().size()};
  }
  Storage value, gradient, first, second;
};

double naive_squared_norm(const Storage& x) {
  double sum = 0;
  for (const double number : numbers_of(x.tensor())) sum += number * number;
  return sum;
}

}  // namespace

TEST_CASE("adamw: two updates by hand, from the field") {
  State s(1);
  s.value.data()[0] = 1;
  s.gradient.data()[0] = 1;
  AdamW update{.lr = 0.1, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8};
  adamw(update, s.spans());
  CHECK(double(s.value.data()[0]) == doctest::Approx(.9).epsilon(1e-6));
  CHECK(s.gradient.data()[0] == 0);
  s.gradient.data()[0] = static_cast<Real>(-.5);
  update.step = 2;
  adamw(update, s.spans());
  CHECK(double(s.value.data()[0]) == doctest::Approx(.873366).epsilon(1e-6));
}

TEST_CASE("adamw: decay is decoupled from the gradient") {
  for (const double decay : {0.5, 0.0}) {
    State s(3);
    for (int i = 0; i < 3; ++i) s.value.data()[i] = 1;
    adamw({.lr = 0.1, .decay = decay}, s.spans());
    for (int i = 0; i < 3; ++i) CHECK(double(s.value.data()[i]) == doctest::Approx(decay > 0 ? .95 : 1.0));
  }
}

TEST_CASE("adamw: agrees with a plain loop, on any number of threads with the same bits") {
  const Index count = 40003;
  std::vector<double> value, first(static_cast<std::size_t>(count)), second(static_cast<std::size_t>(count));
  std::vector<double> alone;
  for (const int threads : {1, 2, 3}) {
    const ThreadSetting setting(threads);
    State s(count);
    if (value.empty()) value = numbers_of(s.value.tensor());
    for (Index step = 1; step <= 3; ++step) {
      const Storage gradient = random_storage({count}, step == 2 ? "even" : "odd", 30);
      std::copy_n(gradient.data(), count, s.gradient.data());
      const AdamW update{.lr = 3e-3,
                         .beta1 = 0.9,
                         .beta2 = 0.99,
                         .epsilon = 1e-8,
                         .decay = 0.1,
                         .step = step,
                         .gradient_scale = 1.0 / 128};
      adamw(update, s.spans());
      for (std::size_t i = 0; threads == 1 && i < value.size(); ++i) {
        const double g = static_cast<double>(gradient.data()[i]) / 128;
        first[i] = 0.9 * first[i] + 0.1 * g;
        second[i] = 0.99 * second[i] + 0.01 * g * g;
        const double m = first[i] / (1 - std::pow(0.9, double(step)));
        const double v = second[i] / (1 - std::pow(0.99, double(step)));
        value[i] -= 3e-3 * 0.1 * value[i];
        value[i] -= 3e-3 * m / (std::sqrt(v) + 1e-8);
      }
    }
    const std::vector<double> found = numbers_of(s.value.tensor());
    CHECK(largest_difference(found, value) <= (sizeof(Real) == 4 ? 2e-6 : 1e-13));
    CHECK(numbers_of(s.gradient.tensor()) == std::vector<double>(static_cast<std::size_t>(count), 0.0));
    if (alone.empty()) alone = found;
    CHECK(found == alone);
  }
}

TEST_CASE("adamw: agrees with a plain loop for every instruction set, whatever is left over of a vector") {
  for_every_instruction_set([](std::int64_t) {
    for (const Index count : {1, 3, 4, 7, 8, 9, 16, 17, 37}) {
      State s(count);
      std::vector<double> value = numbers_of(s.value.tensor());
      const Storage gradient = random_storage({count}, "gradient", 3);
      std::copy_n(gradient.data(), count, s.gradient.data());
      adamw({.lr = 0.01,
             .beta1 = 0.8,
             .beta2 = 0.9,
             .epsilon = 1e-6,
             .decay = 0.5,
             .step = 2,
             .gradient_scale = 0.5},
            s.spans());
      for (std::size_t i = 0; i < value.size(); ++i) {
        const double g = static_cast<double>(gradient.data()[i]) / 2;
        const double m = 0.2 * g / (1 - 0.64), v = 0.1 * g * g / (1 - 0.81);
        value[i] = value[i] * (1 - 0.005) - 0.01 * m / (std::sqrt(v) + 1e-6);
      }
      CHECK(largest_difference(numbers_of(s.value.tensor()), value) <= rounding());
      CHECK(squared_norm(gradient.data(), count).sum ==
            doctest::Approx(naive_squared_norm(gradient)).epsilon(1e-12));
    }
  });
}

TEST_CASE("adamw: bounds hold, and a NaN is not turned into a bound") {
  for_every_instruction_set([](std::int64_t) {
    State s(5);
    for (int i = 0; i < 5; ++i) s.value.data()[i] = 1;
    s.gradient.data()[0] = 5;
    s.gradient.data()[1] = -5;
    s.gradient.data()[2] = std::numeric_limits<Real>::quiet_NaN();
    adamw({.lr = 0.5, .lowest = Real{0.75}, .highest = Real{1.25}}, s.spans());
    CHECK(s.value.data()[0] == Real{0.75});
    CHECK(s.value.data()[1] == Real{1.25});
    CHECK(std::isnan(s.value.data()[2]));
    CHECK(s.value.data()[3] == Real{1});
  });
}

TEST_CASE("adamw: steps are counted from 1") {
  State s(1);
  CHECK_THROWS_WITH_AS(adamw({.lr = 0.1, .step = 0}, s.spans()), "adamw: step is 0; steps are counted from 1",
                       StateError);
}

TEST_CASE("squared_norm: in double, one order, and it reports what is no number") {
  const Storage small = filled_storage({2}, {3, 4});
  CHECK(squared_norm(small.data(), 2).sum == 25);
  CHECK(squared_norm(small.data(), 0).sum == 0);
  const Index count = 100003;
  Storage x = random_storage({count}, "x");
  const double right = naive_squared_norm(x);
  const ThreadSetting one_thread(1);
  const double alone = squared_norm(x.data(), count).sum;
  CHECK(alone == doctest::Approx(right).epsilon(1e-12));
  for (const int threads : {2, 4}) {
    const ThreadSetting setting(threads);
    CHECK(squared_norm(x.data(), count).sum == alone);
    CHECK(squared_norm(x.data(), count).non_finite == 0);
  }
  x.data()[5] = std::numeric_limits<Real>::infinity();
  x.data()[count - 1] = std::numeric_limits<Real>::quiet_NaN();
  CHECK_FALSE(std::isfinite(squared_norm(x.data(), count).sum));
  CHECK(squared_norm(x.data(), count).non_finite == 2);
  // Squares beyond the range of float are summed all the same.
  x = filled_storage({2}, {3e30, 4e30});
  CHECK(squared_norm(x.data(), 2).sum == doctest::Approx(25e60));
}

}  // namespace tapeline::inline TAPELINE_PRECISION
