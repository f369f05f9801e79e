#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/error.h"
#include "core/ops.h"
#include "tests/support/gradcheck.h"
#include "tests/support/instruction_sets.h"
#include "tests/support/reference.h"

using namespace tapeline;

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

// Phi(x) at the very number the kernel gets. erfc keeps the digits of the lower tail; in double the rounding
// of its argument alone would cost 1e-13 there.
double naive_phi(double x) {
  return static_cast<double>(0.5L * std::erfc(-static_cast<long double>(x) / std::sqrt(2.0L)));
}
double naive_gelu(double x) { return x * naive_phi(x); }
double naive_gelu_slope(double x) {
  return naive_phi(x) + x * std::exp(-x * x / 2) / std::sqrt(2 * std::acos(-1.0));
}
double naive_gelu_tanh(double x) {
  return x / (1 + std::exp(-2 * std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
}
double naive_gelu_tanh_slope(double x) {
  const double root = std::sqrt(2 / std::acos(-1.0)), t = std::tanh(root * (x + 0.044715 * x * x * x));
  return (1 + t) / 2 + x / 2 * (1 - t * t) * root * (1 + 3 * 0.044715 * x * x);
}

// Numbers from `low` to `high`, so many that every vector lane and every part of the range comes up.
Storage grid(double low, double high, Index count) {
  Storage x(Shape{count});
  for (Index i = 0; i < count; ++i)
    x.data()[i] =
        static_cast<Real>(low + (high - low) * static_cast<double>(i) / static_cast<double>(count - 1));
  return x;
}

double relative(double found, double right) {
  if (found == right) return 0;
  return std::abs(found - right) / std::max(std::abs(right), 1e-300);
}

std::vector<double> values(Var (*op)(Var), const Storage& x) {
  TestTape tape(Recording::off);
  return numbers_of(op(tape->constant(x.tensor())).value());
}

std::vector<double> slopes(Var (*op)(Var), const Storage& x) {
  TestTape tape;
  const Var in = tape->variable(x.tensor());
  tape->backward(sum(op(in)));
  return numbers_of(in.grad());
}

}  // namespace

TEST_CASE("gelu: against the error function on a dense grid, tails included, for every instruction set") {
  // From where the result is still a normal number of this precision.
  const Storage x = sizeof(Real) == 4 ? grid(-12.5, 9, 20001) : grid(-36, 9, 20001);
  std::vector<double> right, right_slopes;
  for (Index i = 0; i < x.shape().size(); ++i) {
    right.push_back(naive_gelu(static_cast<double>(x.data()[i])));
    right_slopes.push_back(naive_gelu_slope(static_cast<double>(x.data()[i])));
  }
  for_every_instruction_set([&](std::int64_t target) {
    const std::vector<double> y = values(&gelu, x), d = slopes(&gelu, x);
    double worst = 0, worst_slope = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      worst = std::max(worst, relative(y[i], right[i]));
      worst_slope = std::max(worst_slope, std::abs(d[i] - right_slopes[i]));
    }
    // Without a fused multiply-add the exponent's rounding shows in the far tail.
    const bool fused = target <= HWY_AVX2;
    CHECK(worst <= (sizeof(Real) == 4 ? (fused ? 6e-7 : 6e-6) : (fused ? 2e-15 : 1e-13)));
    CHECK(worst_slope <= (sizeof(Real) == 4 ? 4e-7 : 1e-15));
  });
}

TEST_CASE("gelu_tanh: values and slopes on a dense grid, for every instruction set") {
  const Storage x = grid(-9, 9, 20002);
  for_every_instruction_set([&](std::int64_t) {
    const std::vector<double> y = values(&gelu_tanh, x), d = slopes(&gelu_tanh, x);
    double worst = 0, worst_slope = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      const double v = static_cast<double>(x.data()[i]);
      worst = std::max(worst, std::abs(y[i] - naive_gelu_tanh(v)));
      worst_slope = std::max(worst_slope, std::abs(d[i] - naive_gelu_tanh_slope(v)));
    }
    CHECK(worst <= (sizeof(Real) == 4 ? 2e-6 : 1e-13));
    CHECK(worst_slope <= (sizeof(Real) == 4 ? 2e-6 : 1e-13));
  });
}

TEST_CASE("swiglu: values and gradients on a dense grid, for every instruction set") {
  const std::size_t rows = 73, width = 137;
  const Storage x = grid(-9, 9, 20002), weights = random_storage({73, 137}, "weights");
  const std::vector<double> both = numbers_of(x.tensor()), d_y = numbers_of(weights.tensor());
  std::vector<double> right, d_right(both.size());
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t j = 0; j < width; ++j) {
      const std::size_t gate = row * 2 * width + j, place = row * width + j;
      const double b = both[gate], a = both[gate + width], s = 1 / (1 + std::exp(-b));
      right.push_back(a * b * s);
      d_right[gate] = d_y[place] * a * (s + b * s * (1 - s));
      d_right[gate + width] = d_y[place] * b * s;
    }
  }
  for_every_instruction_set([&](std::int64_t) {
    TestTape tape;
    const Var in = tape->variable(x.tensor());
    const Var result = swiglu(reshape(in, {73, 274}));
    CHECK(result.shape() == Shape{73, 137});
    CHECK(largest_difference(numbers_of(result.value()), right) <= rounding());
    tape->backward(weighted_sum(result, weights.tensor()));
    CHECK(largest_difference(numbers_of(in.grad()), d_right) <= rounding());
  });
}

TEST_CASE("gelu: the two forms, from the field") {
  const Storage x = filled_storage({2}, {1, -3});
  CHECK(values(&gelu, x)[0] == doctest::Approx(.841345).epsilon(1e-5));
  CHECK(values(&gelu, x)[1] == doctest::Approx(-.0040497).epsilon(1e-4));
  CHECK(values(&gelu_tanh, x)[0] == doctest::Approx(.841192).epsilon(1e-5));
  CHECK(values(&gelu_tanh, x)[1] == doctest::Approx(-.0036374).epsilon(1e-4));
}

TEST_CASE("activations: far out the values are 0 and x, the slopes 0 and 1") {
  const Storage x = filled_storage({6}, {-1e30, -3e4, -100, 100, 3e4, 1e30});
  for (const auto op : {&gelu, &gelu_tanh}) {
    const std::vector<double> y = values(op, x), d = slopes(op, x);
    for (std::size_t i = 0; i < 6; ++i) {
      CHECK(y[i] == (i < 3 ? 0 : static_cast<double>(x.data()[i])));
      CHECK(std::abs(d[i] - (i < 3 ? 0 : 1)) <= 1e-80);
    }
  }
  const Storage gate = filled_storage({4, 2}, {-1e30, 1, -200, 1, 200, 1, 1e30, 1});
  const std::vector<double> y = values(&swiglu, gate), d = slopes(&swiglu, gate);
  const double gates[] = {0, 0, 200, static_cast<double>(gate.data()[6])}, gate_slopes[] = {0, 0, 1, 1};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(y[i] == doctest::Approx(gates[i]));
    CHECK(d[2 * i] == doctest::Approx(gate_slopes[i]));
  }
}

TEST_CASE("activations: a NaN is not hidden, neither in values nor in slopes, for every instruction set") {
  Storage x = random_storage({38}, "x");
  x.data()[3] = x.data()[36] = std::numeric_limits<Real>::quiet_NaN();
  for_every_instruction_set([&](std::int64_t) {
    for (const auto op : {&gelu, &gelu_tanh}) {
      const std::vector<double> y = values(op, x), d = slopes(op, x);
      for (std::size_t i = 0; i < y.size(); ++i) {
        CHECK(std::isnan(y[i]) == (i == 3 || i == 36));
        CHECK(std::isnan(d[i]) == (i == 3 || i == 36));
      }
    }
    // Gates 0 to 18, then values: number 3 is a gate, number 36 the value of gate 17.
    const std::vector<double> y = values(&swiglu, x), d = slopes(&swiglu, x);
    for (std::size_t i = 0; i < y.size(); ++i) CHECK(std::isnan(y[i]) == (i == 3 || i == 17));
    for (std::size_t i = 0; i < d.size(); ++i) CHECK(std::isnan(d[i]) == (i == 3 || i == 3 + 19 || i == 17));
  });
}

TEST_CASE("activations: gradients") {
  Storage inputs[] = {random_storage({3, 22}, "x", 1.5)};
  gradcheck("gelu", inputs, [](Tape&, std::span<const Var> in) { return gelu(in[0]); });
  gradcheck("gelu_tanh", inputs, [](Tape&, std::span<const Var> in) { return gelu_tanh(in[0]); });
  gradcheck("swiglu", inputs, [](Tape&, std::span<const Var> in) { return swiglu(in[0]); });
  gradcheck("both forms of one input", inputs,
            [](Tape&, std::span<const Var> in) { return add(gelu(in[0]), gelu_tanh(in[0])); });
  gradcheck("swiglu twice", inputs,
            [](Tape&, std::span<const Var> in) { return add(swiglu(in[0]), swiglu(in[0])); });
}

TEST_CASE("swiglu: an odd width is refused") {
  const Storage a(Shape{2, 3});
  TestTape tape;
  CHECK_THROWS_WITH_AS(swiglu(tape->constant(a.tensor())),
                       "swiglu: x is [2, 3]; its last extent must be even: gate and value side by side",
                       ShapeError);
}

}  // namespace tapeline::inline TAPELINE_PRECISION
