#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "core/real.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/core/test_exponential.cpp"
#include "hwy/foreach_target.h"

#include "core/kernels/exponential-inl.h"
#include "core/kernels/vector_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tapeline::inline TAPELINE_PRECISION {
namespace HWY_NAMESPACE {

void exponential_of_all(std::span<const Real> x, Real* y) {
  for_each_vector(static_cast<Index>(x.size()), [&](auto lanes, Index i) HWY_ATTR {
    lanes.store(exponential(RealTag(), lanes.load(x.data() + i)), y + i);
  });
}

void softmax_exponential_of_all(std::span<const Real> x, Real* y) {
  for_each_vector(static_cast<Index>(x.size()), [&](auto lanes, Index i) HWY_ATTR {
    lanes.store(softmax_exponential(RealTag(), lanes.load(x.data() + i)), y + i);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace tapeline::inline TAPELINE_PRECISION
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>

#include "tests/support/instruction_sets.h"

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

HWY_EXPORT(exponential_of_all);
HWY_EXPORT(softmax_exponential_of_all);

std::vector<Real> exponentials(const std::vector<Real>& x) {
  std::vector<Real> y(x.size());
  HWY_DYNAMIC_DISPATCH(exponential_of_all)(x, y.data());
  return y;
}

std::vector<Real> softmax_exponentials(const std::vector<Real>& x) {
  std::vector<Real> y(x.size());
  HWY_DYNAMIC_DISPATCH(softmax_exponential_of_all)(x, y.data());
  return y;
}

}  // namespace

TEST_CASE(
    "vector exp: within two units in the last place of the real one, wherever that is a normal number") {
  std::vector<Real> x;
  for (int i = 0; i <= 200'000; ++i) x.push_back(static_cast<Real>(-87.3 + 175.3 * i / 200'000));
  for (int i = -2000; i <= 2000; ++i) x.push_back(static_cast<Real>(i * 1e-6));
  for_every_instruction_set([&](std::int64_t) {
    const std::vector<Real> y = exponentials(x);
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const long double right = std::exp(static_cast<long double>(x[i]));
      worst = std::max(worst, static_cast<double>(std::abs(y[i] - right) / right));
    }
    CHECK(worst <= 2 * static_cast<double>(std::numeric_limits<Real>::epsilon()));
  });
}

TEST_CASE("vector exp: 0 gives exactly 1, what is far below gives exactly 0, NaN stays NaN") {
  using Limits = std::numeric_limits<Real>;
  for_every_instruction_set([](std::int64_t) {
    const std::vector<Real> y = exponentials({0, Real{-0.0}, -Limits::infinity(), -800, Limits::lowest(),
                                              Limits::quiet_NaN(), -Limits::quiet_NaN()});
    CHECK(y[0] == 1);
    CHECK(y[1] == 1);
    CHECK(y[2] == 0);
    CHECK(y[3] == 0);
    CHECK(y[4] == 0);
    CHECK(std::isnan(y[5]));
    CHECK(std::isnan(y[6]));
  });
}

TEST_CASE("vector exp of a softmax: two units in the last place, and 0.7 units for each 1 of its argument") {
  std::vector<Real> x;
  for (int i = 0; i <= 100'000; ++i) x.push_back(static_cast<Real>(-87.3 + 95.3 * i / 100'000));
  for_every_instruction_set([&](std::int64_t) {
    const std::vector<Real> y = softmax_exponentials(x);
    double worst = 0;  // of what is allowed
    for (std::size_t i = 0; i < x.size(); ++i) {
      const long double right = std::exp(static_cast<long double>(x[i]));
      const double allowed = static_cast<double>(std::numeric_limits<Real>::epsilon()) *
                             (2 + 0.7 * std::abs(static_cast<double>(x[i])));
      worst = std::max(worst, static_cast<double>(std::abs(y[i] - right) / right) / allowed);
    }
    CHECK(worst <= 1);
  });
}

TEST_CASE("vector exp of a softmax: 0 gives exactly 1, far below exactly 0, NaN stays NaN") {
  using Limits = std::numeric_limits<Real>;
  for_every_instruction_set([](std::int64_t) {
    const std::vector<Real> y =
        softmax_exponentials({0, -Limits::infinity(), -800, Limits::lowest(), Limits::quiet_NaN()});
    CHECK(y[0] == 1);
    CHECK(y[1] == 0);
    CHECK(y[2] == 0);
    CHECK(y[3] == 0);
    CHECK(std::isnan(y[4]));
  });
}

}  // namespace tapeline::inline TAPELINE_PRECISION
#endif
