#include <doctest/doctest.h>

#include <vector>

#include "core/error.h"
#include "core/ops.h"
#include "tests/support/gradcheck.h"
#include "tests/support/reference.h"
#include "tests/support/thread_setting.h"

using namespace tapeline;

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

Transposed flag(bool yes) { return yes ? Transposed::yes : Transposed::no; }

std::vector<double> naive_linear(const Storage& x, const Storage& weight, const Storage* bias) {
  const Index rows = x.shape().rows(), in = x.shape().last(), out = weight.shape()[0];
  std::vector<double> y =
      naive_matmul(numbers_of(x.tensor()), numbers_of(weight.tensor()), rows, out, in, false, true);
  for (std::size_t i = 0; bias != nullptr && i < y.size(); ++i)
    y[i] += static_cast<double>(bias->data()[i % static_cast<std::size_t>(out)]);
  return y;
}

}  // namespace

TEST_CASE("matmul: values and gradients for all transposes") {
  for (int transposes = 0; transposes < 4; ++transposes) {
    const bool ta = (transposes & 1) != 0, tb = (transposes & 2) != 0;
    Storage operands[] = {random_storage(ta ? Shape{4, 3} : Shape{3, 4}, "a"),
                          random_storage(tb ? Shape{5, 4} : Shape{4, 5}, "b")};
    TestTape tape(Recording::off);
    const Var c = matmul(tape->constant(operands[0].tensor()), tape->constant(operands[1].tensor()), flag(ta),
                         flag(tb));
    CHECK(c.shape() == Shape{3, 5});
    CHECK(largest_difference(numbers_of(c.value()),
                             naive_matmul(numbers_of(operands[0].tensor()), numbers_of(operands[1].tensor()),
                                          3, 5, 4, ta, tb)) <= rounding());
    gradcheck("matmul", operands,
              [&](Tape&, std::span<const Var> in) { return matmul(in[0], in[1], flag(ta), flag(tb)); });
  }
}

TEST_CASE("matmul: one matrix as both operands, and a gradient that arrives twice") {
  Storage square[] = {random_storage({4, 4}, "square")};
  for (int transposes = 0; transposes < 4; ++transposes) {
    gradcheck("matmul(x, x)", square, [&](Tape&, std::span<const Var> in) {
      return matmul(in[0], in[0], flag((transposes & 1) != 0), flag((transposes & 2) != 0));
    });
  }
}

TEST_CASE("matmul: row-major, from the field") {
  const Storage a = filled_storage({3, 2}, {1, 2, 3, 4, 5, 6}), b = filled_storage({2, 1}, {1, 2});
  TestTape tape;
  const Var c = matmul(tape->constant(a.tensor()), tape->constant(b.tensor()));
  CHECK(numbers_of(c.value()) == std::vector<double>{5, 11, 17});
}

TEST_CASE("matmul: extents of zero") {
  const Storage a(Shape{4, 0}), b(Shape{0, 4}), weights = random_storage({4, 4}, "w");
  TestTape tape;
  const Var x = tape->variable(a.tensor()), y = tape->variable(b.tensor());
  const Var c = matmul(x, y);
  CHECK(c.shape() == Shape{4, 4});
  CHECK(numbers_of(c.value()) == std::vector<double>(16, 0.0));
  tape->backward(weighted_sum(c, weights.tensor()));
  CHECK(x.grad().shape == Shape{4, 0});
  CHECK(y.grad().shape == Shape{0, 4});

  // The other way round the gradients come from an empty sum: zeros, not what was in the memory.
  TestTape other;
  const Storage left = random_storage({0, 3}, "l"), right = random_storage({3, 2}, "r");
  const Var r = other->variable(right.tensor());
  other->backward(sum(matmul(other->variable(left.tensor()), r)));
  CHECK(numbers_of(r.grad()) == std::vector<double>(6, 0.0));
}

TEST_CASE("matmul: errors name the operands") {
  const Storage a(Shape{2, 3}), b(Shape{4, 5}), v(Shape{3});
  TestTape tape;
  const Var x = tape->constant(a.tensor()), y = tape->constant(b.tensor());
  CHECK_THROWS_WITH_AS(matmul(x, y), "matmul: a is [2, 3], b is [4, 5]; inner extents must match",
                       ShapeError);
  CHECK_THROWS_WITH_AS(matmul(x, y, Transposed::no, Transposed::yes),
                       "matmul: a is [2, 3], b is [4, 5] transposed; inner extents must match", ShapeError);
  CHECK_THROWS_WITH_AS(matmul(x, tape->constant(v.tensor())),
                       "matmul: a is [2, 3], b is [3]; both must be matrices", ShapeError);
  CHECK_THROWS_WITH_AS(matmul(x, {}), "matmul: a is [2, 3], b is absent; both must be matrices", ShapeError);
}

TEST_CASE("linear: values and gradients") {
  Storage inputs[] = {random_storage({2, 3, 5}, "x"), random_storage({7, 5}, "weight"),
                      random_storage({7}, "bias")};
  TestTape tape(Recording::off);
  const Var x = tape->constant(inputs[0].tensor()), w = tape->constant(inputs[1].tensor()),
            b = tape->constant(inputs[2].tensor());
  CHECK(linear(x, w, b).shape() == Shape{2, 3, 7});
  CHECK(largest_difference(numbers_of(linear(x, w, b).value()),
                           naive_linear(inputs[0], inputs[1], &inputs[2])) <= rounding());
  CHECK(largest_difference(numbers_of(linear(x, w, {}).value()),
                           naive_linear(inputs[0], inputs[1], nullptr)) <= rounding());
  gradcheck("linear", inputs, [](Tape&, std::span<const Var> in) { return linear(in[0], in[1], in[2]); });
  gradcheck("linear without bias", std::span(inputs, 2),
            [](Tape&, std::span<const Var> in) { return linear(in[0], in[1], {}); });
  gradcheck("linear twice", inputs, [](Tape&, std::span<const Var> in) {
    return add(linear(in[0], in[1], in[2]), multiply(linear(in[0], in[1], in[2]), linear(in[0], in[1], {})));
  });
}

TEST_CASE("linear_onto: the sum of the stream and linear(), value and gradients, on one thread and several") {
  const Storage stream = random_storage({2, 75, 33}, "stream"), x = random_storage({2, 75, 20}, "x"),
                w = random_storage({33, 20}, "weight", 0.3), b = random_storage({33}, "bias"),
                weights = random_storage({2, 75, 33}, "weights");
  const auto run = [&](bool biased, auto op) {
    TestTape tape;
    const std::vector<Var> in = {tape->variable(stream.tensor()), tape->variable(x.tensor()),
                                 tape->variable(w.tensor()), tape->variable(b.tensor())};
    const Var y = op(in[0], in[1], in[2], biased ? in[3] : Var{});
    std::vector<std::vector<double>> all = {numbers_of(y.value())};
    tape->backward(weighted_sum(y, weights.tensor()));
    for (const Var input : in) all.push_back(numbers_of(input.grad()));
    return all;
  };
  for (const bool biased : {true, false}) {
    const auto apart =
        run(biased, [](Var s, Var rows, Var weight, Var bias) { return add(s, linear(rows, weight, bias)); });
    for (const int count : {1, 3}) {
      const ThreadSetting setting(count);
      const auto joint = run(biased, linear_onto);
      for (std::size_t part = 0; part < apart.size(); ++part) {
        CAPTURE(part);
        CHECK(largest_difference(joint[part], apart[part]) <= 20 * rounding());
      }
    }
  }
  std::array<Storage, 4> inputs{random_storage({2, 3, 7}, "stream"), random_storage({2, 3, 5}, "x"),
                                random_storage({7, 5}, "weight"), random_storage({7}, "bias")};
  gradcheck("linear_onto", inputs,
            [](Tape&, std::span<const Var> in) { return linear_onto(in[0], in[1], in[2], in[3]); });
  gradcheck("linear_onto, the stream used twice", inputs, [](Tape&, std::span<const Var> in) {
    const Var twice = scale(in[0], 2);
    return multiply(linear_onto(twice, in[1], in[2], {}), twice);
  });
  std::array<Storage, 2> square{random_storage({3, 5}, "x"), random_storage({5, 5}, "weight")};
  gradcheck("linear_onto its own input", square,
            [](Tape&, std::span<const Var> in) { return linear_onto(in[0], in[0], in[1], {}); });
  TestTape tape(Recording::off);
  CHECK_THROWS_WITH_AS(
      linear_onto(tape->constant(x.tensor()), tape->constant(x.tensor()), tape->constant(w.tensor()), {}),
      "linear_onto: stream is [2, 75, 20], the product of x [2, 75, 20] and weight [33, 20] is [2, 75, 33]; "
      "they must be equal",
      ShapeError);
}

TEST_CASE("linear: many rows on several threads") {
  const Storage x = random_storage({4, 150, 40}, "x", 0.5), w = random_storage({72, 40}, "w", 0.2),
                b = random_storage({72}, "b"), weights = random_storage({4, 150, 72}, "weights");
  const std::vector<double> d_y = numbers_of(weights.tensor());
  std::vector<double> d_bias(72, 0.0);
  for (std::size_t i = 0; i < d_y.size(); ++i) d_bias[i % 72] += d_y[i];
  for (const int count : {1, 2, 3}) {
    const ThreadSetting setting(count);
    TestTape tape;
    const Var in = tape->variable(x.tensor()), weight = tape->variable(w.tensor()),
              bias = tape->variable(b.tensor());
    const Var y = linear(in, weight, bias);
    CHECK(largest_difference(numbers_of(y.value()), naive_linear(x, w, &b)) <= rounding());
    tape->backward(weighted_sum(y, weights.tensor()));
    CHECK(largest_difference(numbers_of(bias.grad()), d_bias) <= rounding());
    CHECK(largest_difference(numbers_of(weight.grad()), naive_matmul(d_y, numbers_of(x.tensor()), 72, 40, 600,
                                                                     true, false)) <= rounding() * 10);
    CHECK(largest_difference(numbers_of(in.grad()), naive_matmul(d_y, numbers_of(w.tensor()), 600, 40, 72)) <=
          rounding());
  }
}

TEST_CASE("linear_gelu: what linear and gelu give one after the other, on one thread and several") {
  struct Pair {
    Var (*fused)(Var, Var, Var, Lifetime);
    Var (*activation)(Var);
    const char* name;
  };
  Storage inputs[] = {random_storage({2, 75, 20}, "x"), random_storage({37, 20}, "weight"),
                      random_storage({37}, "bias")};
  const Storage weights = random_storage({2, 75, 37}, "weights");
  for (const Pair& pair :
       {Pair{linear_gelu, gelu, "linear_gelu"}, Pair{linear_gelu_tanh, gelu_tanh, "linear_gelu_tanh"}}) {
    CAPTURE(pair.name);
    for (const int count : {1, 3}) {
      for (const bool with_bias : {true, false}) {
        const ThreadSetting setting(count);
        const auto run = [&](auto op) {
          TestTape tape;
          const Var x = tape->variable(inputs[0].tensor()), w = tape->variable(inputs[1].tensor()),
                    b = with_bias ? tape->variable(inputs[2].tensor()) : Var{};
          const Var y = op(x, w, b);
          std::vector<std::vector<double>> all = {numbers_of(y.value())};
          tape->backward(weighted_sum(y, weights.tensor()));
          for (const Var input : {x, w, b}) {
            if (input) all.push_back(numbers_of(input.grad()));
          }
          return all;
        };
        const auto fused = run([&](Var x, Var w, Var b) { return pair.fused(x, w, b, Lifetime::tape); });
        CHECK(run([&](Var x, Var w, Var b) { return pair.fused(x, w, b, Lifetime::passing); }) == fused);
        const auto apart = run([&](Var x, Var w, Var b) { return pair.activation(linear(x, w, b)); });
        REQUIRE(fused.size() == apart.size());
        for (std::size_t i = 0; i < fused.size(); ++i) {
          CHECK(largest_difference(fused[i], apart[i]) <= 10 * rounding());
        }
        TestTape silent(Recording::off);
        const Var y = pair.fused(silent->constant(inputs[0].tensor()), silent->constant(inputs[1].tensor()),
                                 with_bias ? silent->constant(inputs[2].tensor()) : Var{}, Lifetime::passing);
        CHECK(largest_difference(numbers_of(y.value()), fused[0]) <= rounding());
      }
    }
    Storage few[] = {random_storage({2, 3, 5}, "x"), random_storage({7, 5}, "weight"),
                     random_storage({7}, "bias")};
    gradcheck(pair.name, few, [&](Tape&, std::span<const Var> in) {
      return pair.fused(in[0], in[1], in[2], Lifetime::tape);
    });
    gradcheck(std::string(pair.name) + ", one input twice, no bias", std::span(few, 2),
              [&](Tape&, std::span<const Var> in) {
                return add(pair.fused(in[0], in[1], {}, Lifetime::tape), linear(in[0], in[1], {}));
              });
    Storage deep[] = {random_storage({4, 5}, "x"), random_storage({5, 5}, "weight"),
                      random_storage({5}, "bias")};
    gradcheck(std::string(pair.name) + ", forgotten and read again by the next product", deep,
              [&](Tape& tape, std::span<const Var> in) {
                const Var hidden = pair.fused(in[0], in[1], in[2], Lifetime::passing);
                const Var next = linear_onto(in[0], hidden, in[1], {});
                tape.forget(hidden);
                return next;
              });
  }
  TestTape tape(Recording::off);
  const Var x = tape->constant(inputs[0].tensor()), w = tape->constant(inputs[1].tensor());
  CHECK_THROWS_WITH_AS(linear_gelu(x, w, x),
                       "linear_gelu: bias is [2, 75, 20], weight is [37, 20]; expected a bias of [37]",
                       ShapeError);
}

TEST_CASE("linear: gradients add up in a parameter, and only what wants one gets one") {
  ParameterStore store;
  const auto ones = [](Tensor value, RandomKey) {
    for (Index i = 0; i < value.size(); ++i) value.data[i] = 1;
  };
  Parameter& weight = store.root().add("weight", {.shape = {2, 3}, .initializer = ones});
  Parameter& bias = store.root().add("bias", {.shape = {2}, .initializer = ones});
  store.allocate(0);
  const Storage x = filled_storage({2, 3}, {1, 2, 3, 4, 5, 6});
  Arena arena;
  GradientPool pool;
  for (int micro_batch = 0; micro_batch < 2; ++micro_batch) {
    Tape tape(arena, pool);
    tape.backward(sum(linear(tape.constant(x.tensor()), tape.leaf(weight), tape.leaf(bias))));
  }
  CHECK(numbers_of(weight.grad()) == std::vector<double>{10, 14, 18, 10, 14, 18});
  CHECK(numbers_of(bias.grad()) == std::vector<double>{4, 4});
}

TEST_CASE("linear: errors name the operands") {
  const Storage a(Shape{2, 3}), w(Shape{4, 5}), good(Shape{4, 3}), b(Shape{5});
  TestTape tape;
  const Var x = tape->constant(a.tensor());
  CHECK_THROWS_WITH_AS(
      linear(x, tape->constant(w.tensor()), {}),
      "linear: x is [2, 3], weight is [4, 5]; the last extent of x must be the weight's second", ShapeError);
  CHECK_THROWS_WITH_AS(linear(x, tape->constant(good.tensor()), tape->constant(b.tensor())),
                       "linear: bias is [5], weight is [4, 3]; expected a bias of [4]", ShapeError);
}

}  // namespace tapeline::inline TAPELINE_PRECISION
