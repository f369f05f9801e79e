#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/error.h"
#include "core/ops.h"
#include "tests/support/gradcheck.h"
#include "tests/support/instruction_sets.h"
#include "tests/support/reference.h"
#include "tests/support/thread_setting.h"

using namespace tapeline;

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

std::vector<double> naive_normalize(const Storage& x, const Storage& gain, const Storage* shift,
                                    double epsilon, bool centred) {
  const std::size_t width = static_cast<std::size_t>(x.shape().last());
  std::vector<double> y = numbers_of(x.tensor());
  for (std::size_t row = 0; row < y.size(); row += width) {
    double mean = 0, variance = 0;
    for (std::size_t j = 0; j < width; ++j) mean += centred ? y[row + j] / double(width) : 0;
    for (std::size_t j = 0; j < width; ++j) variance += std::pow(y[row + j] - mean, 2) / double(width);
    for (std::size_t j = 0; j < width; ++j)
      y[row + j] = (y[row + j] - mean) / std::sqrt(variance + epsilon) * double(gain.data()[j]) +
                   (shift == nullptr ? 0 : double(shift->data()[j]));
  }
  return y;
}

struct NaiveGradients {
  std::vector<double> d_x, d_gain, d_shift;
};

// With n = (x - mean) r: dn_k / dx_j = r ([k = j] - [centred] / W - n_k n_j / W), every pair written out.
NaiveGradients naive_gradients(const Storage& x, const Storage& gain, const Storage& weights, double epsilon,
                               bool centred) {
  const std::size_t width = static_cast<std::size_t>(x.shape().last());
  const std::vector<double> xs = numbers_of(x.tensor()), g = numbers_of(gain.tensor()),
                            d_y = numbers_of(weights.tensor());
  NaiveGradients all{std::vector<double>(xs.size()), std::vector<double>(width), std::vector<double>(width)};
  for (std::size_t row = 0; row < xs.size(); row += width) {
    const double w = double(width);
    double mean = 0, square = 0;
    for (std::size_t j = 0; j < width; ++j) mean += centred ? xs[row + j] / w : 0;
    for (std::size_t j = 0; j < width; ++j) square += std::pow(xs[row + j] - mean, 2) / w;
    const double r = 1 / std::sqrt(square + epsilon);
    for (std::size_t k = 0; k < width; ++k) {
      const double n = (xs[row + k] - mean) * r;
      all.d_gain[k] += d_y[row + k] * n;
      all.d_shift[k] += d_y[row + k];
      for (std::size_t j = 0; j < width; ++j) {
        const double slope =
            r * ((k == j ? 1 : 0) - (centred ? 1 / w : 0) - n * (xs[row + j] - mean) * r / w);
        all.d_x[row + j] += d_y[row + k] * g[k] * slope;
      }
    }
  }
  return all;
}

}  // namespace

TEST_CASE("layer_norm and rms_norm: values at widths around the vector's, for every instruction set") {
  for_every_instruction_set([](std::int64_t) {
    for (const Index width : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 257}) {
      const Storage x = random_storage({3, 2, width}, "x"), gain = random_storage({width}, "gain"),
                    shift = random_storage({width}, "shift");
      TestTape tape(Recording::off);
      const Var in = tape->constant(x.tensor()), g = tape->constant(gain.tensor()),
                s = tape->constant(shift.tensor());
      CHECK(largest_difference(numbers_of(layer_norm(in, g, s, 1e-5).value()),
                               naive_normalize(x, gain, &shift, 1e-5, true)) <= rounding());
      CHECK(largest_difference(numbers_of(layer_norm(in, g, {}, 1e-5).value()),
                               naive_normalize(x, gain, nullptr, 1e-5, true)) <= rounding());
      CHECK(largest_difference(numbers_of(rms_norm(in, g, 1e-5).value()),
                               naive_normalize(x, gain, nullptr, 1e-5, false)) <= rounding());
    }
  });
}

TEST_CASE("layer_norm and rms_norm: gradients by plain loops, for every instruction set") {
  for_every_instruction_set([](std::int64_t) {
    for (const Index width : {1, 3, 4, 7, 8, 9, 16, 17, 33, 100}) {
      CAPTURE(width);
      const Storage x = random_storage({6, width}, "x"), gain = random_storage({width}, "gain"),
                    shift = random_storage({width}, "shift"), weights = random_storage({6, width}, "weights");
      for (const bool centred : {true, false}) {
        const NaiveGradients right = naive_gradients(x, gain, weights, 1e-2, centred);
        TestTape tape;
        const Var in = tape->variable(x.tensor()), g = tape->variable(gain.tensor()),
                  s = tape->variable(shift.tensor());
        const Var y = centred ? layer_norm(in, g, s, 1e-2) : rms_norm(in, g, 1e-2);
        tape->backward(weighted_sum(y, weights.tensor()));
        CHECK(largest_difference(numbers_of(in.grad()), right.d_x) <= rounding() * 10);
        CHECK(largest_difference(numbers_of(g.grad()), right.d_gain) <= rounding());
        if (centred) CHECK(largest_difference(numbers_of(s.grad()), right.d_shift) <= rounding());
      }
    }
  });
}

TEST_CASE("layer_norm: the variance is that of the centred values") {
  const Storage x = filled_storage({1, 4}, {40000, 40001, 40002, 40003}),
                gain = filled_storage({4}, {1, 1, 1, 1});
  TestTape tape;
  const Var y = layer_norm(tape->constant(x.tensor()), tape->constant(gain.tensor()), {}, 1e-5);
  const double right[] = {-1.341635, -.447212, .447212, 1.341635};
  for (int i = 0; i < 4; ++i) CHECK(double(y.value().data[i]) == doctest::Approx(right[i]).epsilon(1e-5));
}

TEST_CASE("layer_norm: a mean far from zero in a wide row") {
  const Index width = 384;
  Storage x(Shape{1, width}), gain(Shape{width});
  for (Index j = 0; j < width; ++j) {
    x.data()[j] = static_cast<Real>(1e4 + 0.25 * static_cast<double>(j % 7));
    gain.data()[j] = 1;
  }
  TestTape tape;
  const Var y = layer_norm(tape->constant(x.tensor()), tape->constant(gain.tensor()), {}, 1e-5);
  CHECK(largest_difference(numbers_of(y.value()), naive_normalize(x, gain, nullptr, 1e-5, true)) <= 2e-3);
}

TEST_CASE("layer_norm and rms_norm: gradients") {
  for (const Index width : {1, 5, 16, 19}) {
    Storage inputs[] = {random_storage({2, 3, width}, "x"), random_storage({width}, "gain"),
                        random_storage({width}, "shift")};
    gradcheck("layer_norm", inputs,
              [](Tape&, std::span<const Var> in) { return layer_norm(in[0], in[1], in[2], 1e-2); });
    gradcheck("layer_norm without shift", std::span(inputs, 2),
              [](Tape&, std::span<const Var> in) { return layer_norm(in[0], in[1], {}, 1e-2); });
    gradcheck("rms_norm", std::span(inputs, 2),
              [](Tape&, std::span<const Var> in) { return rms_norm(in[0], in[1], 1e-2); });
    gradcheck("layer_norm twice", std::span(inputs, 2), [](Tape&, std::span<const Var> in) {
      return add(layer_norm(in[0], in[1], in[1], 1e-2), rms_norm(in[0], in[1], 1e-2));
    });
  }
}

TEST_CASE("layer_norm: partial sums of several threads") {
  const Index rows = 2000, width = 24;
  const Storage x = random_storage({rows, width}, "x"), gain = random_storage({width}, "gain"),
                shift = random_storage({width}, "shift"), weights = random_storage({rows, width}, "weights");
  const Storage ones = filled_storage({width}, std::vector<double>(static_cast<std::size_t>(width), 1.0));
  const std::vector<double> normal = naive_normalize(x, ones, nullptr, 1e-5, true);
  const std::vector<double> d_y = numbers_of(weights.tensor());
  std::vector<double> d_gain(static_cast<std::size_t>(width)), d_shift(static_cast<std::size_t>(width));
  for (std::size_t i = 0; i < normal.size(); ++i) {
    d_gain[i % static_cast<std::size_t>(width)] += d_y[i] * normal[i];
    d_shift[i % static_cast<std::size_t>(width)] += d_y[i];
  }
  for (const int count : {1, 2, 4}) {
    const ThreadSetting setting(count);
    std::vector<double> first;
    for (int repeat = 0; repeat < 2; ++repeat) {
      TestTape tape;
      const Var g = tape->variable(gain.tensor()), s = tape->variable(shift.tensor());
      const Var y = layer_norm(tape->variable(x.tensor()), g, s, 1e-5);
      tape->backward(weighted_sum(y, weights.tensor()));
      CHECK(largest_difference(numbers_of(g.grad()), d_gain) <= rounding() * 10);
      CHECK(largest_difference(numbers_of(s.grad()), d_shift) <= rounding() * 10);
      if (repeat == 0) first = numbers_of(g.grad());
      CHECK(numbers_of(g.grad()) == first);
    }
  }
}

TEST_CASE("layer_norm: a NaN stays in its row and is not hidden") {
  Storage x = random_storage({3, 5}, "x");
  x.data()[7] = std::numeric_limits<Real>::quiet_NaN();
  const Storage gain = filled_storage({5}, {1, 1, 1, 1, 1});
  TestTape tape;
  for (const Var y : {layer_norm(tape->constant(x.tensor()), tape->constant(gain.tensor()), {}, 1e-5),
                      rms_norm(tape->constant(x.tensor()), tape->constant(gain.tensor()), 1e-5)}) {
    CHECK(std::isfinite(y.value().data[4]));
    CHECK(std::isnan(y.value().data[7]));
    CHECK(std::isfinite(y.value().data[10]));
  }
}

TEST_CASE("layer_norm: errors name the operands") {
  const Storage a(Shape{2, 3}), g(Shape{4}), good(Shape{3});
  TestTape tape;
  const Var x = tape->constant(a.tensor());
  CHECK_THROWS_WITH_AS(
      layer_norm(x, tape->constant(g.tensor()), {}, 1e-5),
      "layer_norm: x is [2, 3], gain is [4]; expected a gain as long as the last extent of x", ShapeError);
  CHECK_THROWS_WITH_AS(layer_norm(x, tape->constant(good.tensor()), tape->constant(g.tensor()), 1e-5),
                       "layer_norm: gain is [3], shift is [4]; they must agree", ShapeError);
  CHECK_THROWS_WITH_AS(
      rms_norm(x, {}, 1e-5),
      "rms_norm: x is [2, 3], gain is absent; expected a gain as long as the last extent of x", ShapeError);
}

}  // namespace tapeline::inline TAPELINE_PRECISION
