#include <doctest/doctest.h>

#include <array>
#include <functional>
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

struct BinaryOp {
  const char* name;
  Var (*op)(Var, Var);
  double (*value)(double, double);
};
constexpr std::array<BinaryOp, 3> binary_ops{{
    {"add", add, [](double a, double b) { return a + b; }},
    {"subtract", subtract, [](double a, double b) { return a - b; }},
    {"multiply", multiply, [](double a, double b) { return a * b; }},
}};

/// Pairs of shapes that fit, and the shape they give.
struct ShapePair {
  Shape a, b, out;
};
const std::vector<ShapePair>& shape_pairs() {
  static const std::vector<ShapePair> pairs{
      {{}, {}, {}},
      {{5}, {5}, {5}},
      {{2, 3, 4}, {2, 3, 4}, {2, 3, 4}},
      {{2, 3, 4}, {4}, {2, 3, 4}},
      {{4}, {2, 3, 4}, {2, 3, 4}},
      {{2, 3, 4}, {3, 4}, {2, 3, 4}},
      {{2, 3, 4}, {1, 1, 4}, {2, 3, 4}},
      {{2, 3, 4}, {}, {2, 3, 4}},
      {{4, 1}, {1, 4}, {4, 4}},
      {{2, 1, 3, 1}, {5, 1, 2}, {2, 5, 3, 2}},
      {{2, 3, 1}, {2, 1, 4}, {2, 3, 4}},
      {{1}, {1, 1, 1}, {1, 1, 1}},
      {{0, 3}, {3}, {0, 3}},
      {{2, 0}, {2, 1}, {2, 0}},
      {{0}, {}, {0}},
  };
  return pairs;
}

/// Element `i` of the broadcast result, looked up axis by axis.
double element_of(const Storage& x, const Shape& out, Index i) {
  Index offset = 0, step = 1;
  for (int axis = 1; axis <= out.rank(); ++axis) {
    const Index place = i % out[-axis];
    i /= out[-axis];
    if (axis > x.shape().rank()) continue;
    if (x.shape()[-axis] != 1) offset += place * step;
    step *= x.shape()[-axis];
  }
  return static_cast<double>(x.data()[offset]);
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION

TEST_CASE("arithmetic: values and gradients of every pair of shapes that fit") {
  for (const BinaryOp& op : binary_ops) {
    for (const ShapePair& shapes : shape_pairs()) {
      CAPTURE(op.name);
      CAPTURE(shapes.a.text());
      CAPTURE(shapes.b.text());
      std::array<Storage, 2> in{random_storage(shapes.a, "a"), random_storage(shapes.b, "b")};
      TestTape tape;
      const Var out = op.op(tape->constant(in[0].tensor()), tape->constant(in[1].tensor()));
      REQUIRE(out.shape() == shapes.out);
      std::vector<double> expected;
      for (Index i = 0; i < shapes.out.size(); ++i) {
        expected.push_back(op.value(element_of(in[0], shapes.out, i), element_of(in[1], shapes.out, i)));
      }
      CHECK(largest_difference(numbers_of(out.value()), expected) <= rounding());
      gradcheck(op.name, in, [&](Tape&, std::span<const Var> v) { return op.op(v[0], v[1]); });
    }
  }
}

TEST_CASE("arithmetic: the gradient of a broadcast operand is summed back to its own shape") {
  Storage a({3, 4}), b({4});
  for (Index i = 0; i < 12; ++i) a.data()[i] = static_cast<Real>(i);
  TestTape tape;
  const Var x = tape->variable(a.tensor()), y = tape->variable(b.tensor());
  const Var s = add(x, y);
  tape->backward(sum(multiply(s, s)));
  CHECK(numbers_of(y.grad()) == std::vector<double>{24, 30, 36, 42});
  CHECK(x.grad().shape == Shape{3, 4});
}

TEST_CASE("arithmetic: one operand used twice, or by two ops, gets the sum") {
  std::array<Storage, 1> in{random_storage({3, 2}, "x")};
  gradcheck("x + x", in, [](Tape&, std::span<const Var> v) { return add(v[0], v[0]); });
  gradcheck("x - x", in, [](Tape&, std::span<const Var> v) { return subtract(v[0], v[0]); });
  gradcheck("x * x", in, [](Tape&, std::span<const Var> v) { return multiply(v[0], v[0]); });
  gradcheck("residual", in, [](Tape&, std::span<const Var> v) {
    const Var h = scale(v[0], 2);
    return add(h, multiply(h, add(h, v[0])));
  });
  std::array<Storage, 2> two{random_storage({3, 2}, "x"), random_storage({2}, "b")};
  gradcheck("bias twice", two, [](Tape&, std::span<const Var> v) {
    return multiply(add(v[0], v[1]), subtract(v[1], scale(add(v[0], v[1]), 3)));
  });
}

TEST_CASE("arithmetic: a product of one tensor with a constant leaves the constant alone") {
  const Storage a = random_storage({3}, "a");
  std::array<Storage, 1> in{random_storage({2, 3}, "x")};
  gradcheck("constant first", in,
            [&](Tape& tape, std::span<const Var> v) { return multiply(tape.constant(a.tensor()), v[0]); });
  gradcheck("constant second", in,
            [&](Tape& tape, std::span<const Var> v) { return subtract(v[0], tape.constant(a.tensor())); });
}

TEST_CASE("arithmetic: shapes that do not fit are refused with both in the text") {
  const Storage a({2, 3}), b({2});
  TestTape tape;
  const Var x = tape->constant(a.tensor()), y = tape->constant(b.tensor());
  CHECK_THROWS_WITH_AS(add(x, y),
                       "add: a is [2, 3], b is [2]; aligned at the last axis, extents must be equal or 1",
                       ShapeError);
  CHECK_THROWS_AS(multiply(x, y), ShapeError);
  CHECK_THROWS_AS(subtract(x, Var()), ShapeError);
  CHECK_THROWS_AS(reshape(x, {5}), ShapeError);
}

TEST_CASE("arithmetic: scale, sum and reshape") {
  std::array<Storage, 1> in{random_storage({2, 3, 5}, "x")};
  TestTape tape;
  const Var x = tape->constant(in[0].tensor());
  double total = 0;
  for (const double number : numbers_of(x.value())) total += number;
  CHECK(static_cast<double>(*sum(x).value().data) == doctest::Approx(total).epsilon(1e-6));
  CHECK(sum(x).shape() == Shape{});
  CHECK(reshape(x, {6, 5}).value().data == x.value().data);
  gradcheck("scale", in, [](Tape&, std::span<const Var> v) { return scale(v[0], Real(-1.5)); });
  gradcheck("sum", in, [](Tape&, std::span<const Var> v) { return multiply(sum(v[0]), sum(v[0])); });
  gradcheck("reshape", in,
            [](Tape&, std::span<const Var> v) { return multiply(reshape(v[0], {30}), reshape(v[0], {30})); });
  gradcheck("all together", in, [](Tape&, std::span<const Var> v) {
    return add(scale(v[0], 2), add(sum(v[0]), scale(reshape(reshape(v[0], {30}), {2, 3, 5}), 3)));
  });
}

TEST_CASE("arithmetic: an empty sum is 0 and has an empty gradient") {
  const Storage nothing({4, 0});
  TestTape tape;
  const Var x = tape->variable(nothing.tensor());
  const Var total = sum(multiply(x, x));
  CHECK(*total.value().data == 0);
  tape->backward(total);
  CHECK(x.grad().shape == Shape{4, 0});
}

TEST_CASE("arithmetic: long sums are kept in double") {
  Storage ones({20000000});
  std::fill_n(ones.data(), ones.shape().size(), Real{1});
  TestTape tape(Recording::off);
  CHECK(*sum(tape->constant(ones.tensor())).value().data == Real{20000000});
  // The gradient of a repeated operand is such a sum as well.
  const Storage column({1 << 22, 1}), one({1});
  TestTape recorded;
  const Var b = recorded->variable(one.tensor());
  Storage tenth({1 << 22, 1});
  std::fill_n(tenth.data(), tenth.shape().size(), Real(0.1));
  recorded->backward(
      sum(multiply(recorded->constant(tenth.tensor()), add(recorded->constant(column.tensor()), b))));
  CHECK(static_cast<double>(*b.grad().data) == doctest::Approx((1 << 22) * 0.1).epsilon(1e-6));
}

TEST_CASE("arithmetic: the same bits for one thread and several") {
  std::array<Storage, 2> in{random_storage({300, 130}, "x"), random_storage({130}, "b")};
  const auto run = [&](int threads) {
    const ThreadSetting setting(threads);
    TestTape tape;
    const Var x = tape->variable(in[0].tensor()), b = tape->variable(in[1].tensor());
    const Var y = multiply(add(x, b), b);
    tape->backward(sum(multiply(y, y)));
    std::vector<double> numbers = numbers_of(x.grad());
    for (const double number : numbers_of(b.grad())) numbers.push_back(number);
    return numbers;
  };
  const std::vector<double> one = run(1);
  CHECK(one == run(2));
  CHECK(one == run(3));
}
