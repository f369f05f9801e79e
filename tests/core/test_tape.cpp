#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/ops.h"
#include "core/tape.h"
#include "tests/support/gradcheck.h"
#include "tests/support/reference.h"

using namespace tapeline;

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

/// A scalar that a test can differentiate by.
Storage number(double value) { return filled_storage({}, {value}); }

/// A store of one parameter "w" [2], value {3, 4}.
void add_pair(ParameterStore& store) {
  store.root().add("w", {.shape = {2}, .initializer = [](Tensor value, RandomKey) {
                           value.data[0] = 3;
                           value.data[1] = 4;
                         }});
  store.allocate(0);
}

/// The most gradient bytes at once in a chain of `layers` products.
std::size_t gradient_peak(int layers) {
  Arena arena;
  GradientPool pool;
  const Storage x = random_storage({64, 8}, "x");
  Tape tape(arena, pool);
  Var h = tape.variable(x.tensor());
  for (int layer = 0; layer < layers; ++layer) h = add(h, multiply(h, scale(h, Real(0.5))));
  tape.backward(sum(h));
  return pool.peak_bytes();
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION

TEST_CASE("tape: a node that is used again propagates once, when its gradient is complete") {
  const Storage one = number(1);
  TestTape tape;
  const Var x = tape->variable(one.tensor()), a = tape->variable(one.tensor());
  const Var u = multiply(x, a);
  const Var f = add(add(multiply(x, u), multiply(x, u)), multiply(multiply(x, x), a));
  CHECK(*f.value().data == 3);
  tape->backward(f);
  CHECK(*x.grad().data == 6);
  CHECK(*a.grad().data == 3);
}

TEST_CASE("tape: a second backward run is refused and changes nothing") {
  const Storage three = number(3), two = number(2), one = number(1);
  TestTape tape;
  const Var a = tape->variable(three.tensor()), b = tape->variable(two.tensor()),
            d = tape->variable(one.tensor());
  const Var e = multiply(add(a, b), d);
  tape->backward(e);
  CHECK_THROWS_AS(tape->backward(e), StateError);
  CHECK(*a.grad().data == 1);
  CHECK(*b.grad().data == 1);
  CHECK(*d.grad().data == 5);
}

TEST_CASE("tape: the seed scales every gradient") {
  const Storage three = number(3);
  TestTape tape;
  const Var x = tape->variable(three.tensor());
  tape->backward(multiply(x, x), Real(0.5));
  CHECK(*x.grad().data == 3);
}

TEST_CASE(
    "tape: a parameter changed after it was recorded stops backward by name, before any gradient moves") {
  ParameterStore store;
  add_pair(store);
  Parameter& w = store.parameters().front();
  TestTape tape;
  const Var x = tape->leaf(w);
  const Var loss = sum(multiply(x, x));
  w.mutable_value().data[0] = 5;
  CHECK_THROWS_WITH_AS(
      tape->backward(loss),
      "backward: parameter \"w\" has changed since it was recorded; run backward before the update, "
      "or record again",
      StateError);
  CHECK(w.grad().data[0] == 0);
}

TEST_CASE("tape: gradients of a parameter add up over its uses and over tapes") {
  ParameterStore store;
  add_pair(store);
  Parameter& w = store.parameters().front();
  for (int micro_batch = 1; micro_batch <= 2; ++micro_batch) {
    TestTape tape;
    tape->backward(sum(multiply(tape->leaf(w), tape->leaf(w))));
    CHECK(w.grad().data[0] == 6 * micro_batch);
    CHECK(w.grad().data[1] == 8 * micro_batch);
    CHECK(tape.gradients().used_bytes() == 0);
  }
}

TEST_CASE("tape: adjacent parameters are one tensor; others are refused") {
  ParameterStore store;
  const auto fill = [](Tensor value, RandomKey) {
    for (Index i = 0; i < value.size(); ++i) value.data[i] = static_cast<Real>(i);
  };
  Parameter& a = store.add("a", {.shape = {2, 3}, .initializer = fill});
  Parameter& b = store.add("b", {.shape = {1, 3}, .initializer = fill});
  Parameter& c = store.add("c", {.shape = {3}, .initializer = fill});
  store.allocate(0);
  TestTape tape;
  const std::array<Parameter*, 2> together{&a, &b}, reversed{&b, &a}, unlike{&a, &c};
  const Var joined = tape->leaf(together);
  CHECK(joined.shape() == Shape{3, 3});
  CHECK(numbers_of(joined.value()) == std::vector<double>{0, 1, 2, 3, 4, 5, 0, 1, 2});
  CHECK_THROWS_AS(tape->leaf(reversed), StateError);
  CHECK_THROWS_AS(tape->leaf(unlike), ShapeError);
  CHECK_THROWS_AS(tape->leaf(std::span<Parameter* const>{}), ShapeError);
  const Var loss = sum(multiply(joined, joined));
  b.mutable_value();
  CHECK_THROWS_AS(tape->backward(loss), StateError);
  TestTape again;
  const Var once_more = again->leaf(together);
  again->backward(sum(multiply(once_more, once_more)));
  CHECK(numbers_of(a.grad()) == std::vector<double>{0, 2, 4, 6, 8, 10});
  CHECK(numbers_of(b.grad()) == std::vector<double>{0, 2, 4});
}

TEST_CASE("tape: a root that is no single number, or a tape that records nothing, is refused") {
  const Storage x = random_storage({2}, "x");
  TestTape tape, other, silent(Recording::off);
  CHECK_THROWS_AS(tape->backward(tape->variable(x.tensor())), ShapeError);
  CHECK_THROWS_AS(tape->backward(Var()), ShapeError);
  CHECK_THROWS_AS(tape->backward(sum(other->variable(x.tensor()))), ShapeError);
  CHECK_THROWS_AS(silent->backward(sum(silent->variable(x.tensor()))), StateError);
}

TEST_CASE("tape: without recording nothing wants a gradient, and values are the same") {
  const Storage x = random_storage({5}, "x");
  TestTape on, off(Recording::off);
  const Var y = off->variable(x.tensor());
  CHECK_FALSE(multiply(y, y).needs_grad());
  CHECK(numbers_of(multiply(y, y).value()) ==
        numbers_of(multiply(on->variable(x.tensor()), on->variable(x.tensor())).value()));
  CHECK_THROWS_AS(y.grad(), StateError);
}

TEST_CASE("tape: constants get no gradient, and what none arrives at reads zero") {
  const Storage x = random_storage({3}, "x");
  TestTape tape;
  const Var fixed = tape->constant(x.tensor()), free = tape->variable(x.tensor()),
            unused = tape->variable(x.tensor());
  const Var product = multiply(fixed, free);
  tape->backward(sum(product));
  CHECK(numbers_of(free.grad()) == numbers_of(x.tensor()));
  CHECK(numbers_of(unused.grad()) == std::vector<double>(3, 0.0));
  CHECK_THROWS_AS(fixed.grad(), StateError);
  CHECK_THROWS_AS(product.grad(), StateError);  // went back to the pool
}

TEST_CASE("tape: a branch that does not reach the root runs no rule") {
  const Storage x = random_storage({3}, "x");
  TestTape tape;
  const Var a = tape->variable(x.tensor());
  const Var root = sum(a);
  const Var aside = multiply(a, a);
  CHECK(aside.needs_grad());
  tape->backward(root);
  CHECK(numbers_of(a.grad()) == std::vector<double>(3, 1.0));
}

TEST_CASE("tape: the peak of gradient memory is that of one layer, however many there are") {
  CHECK(gradient_peak(4) == gradient_peak(12));
  CHECK(gradient_peak(4) <= 5 * 64 * 8 * sizeof(Real));
}

TEST_CASE("tape: a repeated step takes its memory from where the first one took it") {
  Arena arena(1 << 12);
  GradientPool pool;
  const Storage x = random_storage({40, 50}, "x"), row = random_storage({50}, "row");
  const auto step = [&] {
    Tape tape(arena, pool);
    const Var a = tape.variable(x.tensor()), b = tape.variable(row.tensor());
    tape.backward(sum(multiply(add(a, b), subtract(a, b))));
  };
  step();
  const std::size_t reserved = arena.reserved_bytes(), peak = pool.peak_bytes();
  for (int i = 0; i < 3; ++i) step();
  CHECK(arena.used_bytes() == 0);
  CHECK(arena.reserved_bytes() == reserved);
  CHECK(pool.used_bytes() == 0);
  CHECK(pool.peak_bytes() == peak);
}

TEST_CASE("tape: gradient memory comes back when a rule throws") {
  Arena arena;
  GradientPool pool;
  const Storage x = random_storage({8}, "x");
  {
    Tape tape(arena, pool);
    const Var a = tape.variable(x.tensor());
    const Var bad = tape.record("bad", a.value(), {a}, [](Var) { fail<NumericError>("bad: on purpose"); });
    CHECK_THROWS_AS(tape.backward(sum(bad)), NumericError);
  }
  CHECK(pool.used_bytes() == 0);
  CHECK(arena.used_bytes() == 0);
}

TEST_CASE(
    "gradient pool: memory of a size is used again for that size, and the peak counts what is out at once") {
  GradientPool pool;
  Real* first = pool.take(100);
  Real* second = pool.take(100);
  CHECK(first != second);
  CHECK(pool.used_bytes() == 200 * sizeof(Real));
  pool.give_back(first, 100);
  Real* other = pool.take(101);
  CHECK(other != first);
  CHECK(pool.take(100) == first);
  CHECK(pool.peak_bytes() == 301 * sizeof(Real));
  CHECK(pool.take(0) != nullptr);
  pool.give_back(other, 101);
  pool.reset_peak();
  CHECK(pool.peak_bytes() == 200 * sizeof(Real));
}

TEST_CASE("gradient pool: memory that is handed out again holds nothing useful") {
  GradientPool pool;
  Real* memory = pool.take(3);
  CHECK(std::isnan(memory[2]));
  memory[2] = 1;
  pool.give_back(memory, 3);
  CHECK(std::isnan(pool.take(3)[2]));
}

TEST_CASE("gradcheck: a wrong rule is caught, a right one passes") {
  Storage inputs[] = {random_storage({5}, "x"), random_storage({5}, "aside")};
  // x^2 by a rule that claims the slope `factor` x.
  const auto faults = [&](double factor) {
    return gradient_faults("square", inputs, [factor](Tape& tape, std::span<const Var> in) {
      const Var x = in[0];
      const Tensor value = tape.allocate(x.shape());
      for (Index i = 0; i < value.size(); ++i) value.data[i] = x.value().data[i] * x.value().data[i];
      return tape.record("square", value, {x}, [x, factor](Var output) {
        const Tensor d_x = x.grad();
        for (Index i = 0; i < d_x.size(); ++i) {
          d_x.data[i] += static_cast<Real>(factor) * x.value().data[i] * output.grad().data[i];
        }
      });
    });
  };
  CHECK(faults(2).empty());
  CHECK(faults(std::numeric_limits<double>::quiet_NaN()).size() >= 1);
  if (sizeof(Real) < sizeof(double)) return;  // differences prove nothing there
  const std::vector<std::string> wrong = faults(2.0001);
  CHECK(wrong.size() == 5);
  CHECK(wrong.front().starts_with("square: gradient by input 0 [5], element 0: the rule says"));
}

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

/// Values and gradients of products of norms and of gelus, each forgotten after its use or kept.
std::vector<std::vector<double>> norms_and_products(GradientPool& pool, Lifetime lifetime, bool forget) {
  const Storage x = random_storage({6, 8}, "x"), gain = random_storage({8}, "gain"),
                weight = random_storage({8, 8}, "weight", 0.4), weights = random_storage({6, 8}, "weights");
  Arena arena;
  Tape tape(arena, pool);
  const Var in = tape.variable(x.tensor()), scaled_by = tape.variable(gain.tensor()),
            matrix = tape.variable(weight.tensor());
  Var rows = in;
  for (int part = 0; part < 3; ++part) {
    const Var normed = part == 1 ? rms_norm(rows, scaled_by, 1e-5, lifetime)
                                 : layer_norm(rows, scaled_by, scaled_by, 1e-5, lifetime);
    rows = linear_onto(rows, normed, matrix, {});
    const Var hidden = part == 1 ? linear_gelu_tanh(rows, matrix, {}, lifetime)
                                 : linear_gelu(rows, matrix, scaled_by, lifetime);
    // The last result is never asked for again: its rule finds the derivative itself.
    rows = part == 2 ? add(rows, hidden) : linear_onto(rows, hidden, matrix, {});
    for (const Var used : {normed, hidden}) {
      if (forget) tape.forget(used);
      if (forget) tape.forget(used);  // once is enough, twice does no harm
    }
    if (part == 0 && forget) {  // asked for before the backward run as well, and forgotten once more
      const std::vector<double> again = numbers_of(hidden.value());
      tape.forget(hidden);
      CHECK(numbers_of(hidden.value()) == again);
      tape.forget(hidden);
    }
    tape.forget(rows);  // this one does not pass
  }
  std::vector<std::vector<double>> all = {numbers_of(rows.value())};
  tape.backward(weighted_sum(rows, weights.tensor()));
  for (const Var learned : {in, scaled_by, matrix}) all.push_back(numbers_of(learned.grad()));
  return all;
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION

TEST_CASE("tape: a value that passes is made again for the backward run, to the same bits") {
  GradientPool pool;
  const auto kept = norms_and_products(pool, Lifetime::tape, true);
  CHECK(norms_and_products(pool, Lifetime::passing, true) == kept);
  CHECK(norms_and_products(pool, Lifetime::passing, false) == kept);
  CHECK(pool.used_bytes() == 0);
}

TEST_CASE("tape: the memory of a forgotten value serves the next one, and all of it comes back") {
  const Storage x = random_storage({32, 16}, "x"), gain = random_storage({16}, "gain");
  const std::size_t one = 32 * 16 * sizeof(Real);
  GradientPool pool;
  Arena arena;
  {
    Tape tape(arena, pool);
    const Var in = tape.variable(x.tensor()), scaled_by = tape.constant(gain.tensor());
    const Var first = layer_norm(in, scaled_by, {}, 1e-5, Lifetime::passing);
    const std::vector<double> numbers = numbers_of(first.value());
    for (int again = 0; again < 5; ++again) {
      const Var next = layer_norm(in, scaled_by, {}, 1e-5, Lifetime::passing);
      CHECK(pool.used_bytes() == 2 * one);
      tape.forget(next);
      CHECK(pool.used_bytes() == one);
    }
    tape.forget(first);
    CHECK(pool.used_bytes() == 0);
    CHECK(pool.peak_bytes() == 2 * one);
    CHECK(numbers_of(first.value()) == numbers);  // asked for once more
    CHECK(pool.used_bytes() == one);
  }
  CHECK(pool.used_bytes() == 0);  // a tape that never ran backward
  Tape tape(arena, pool, Recording::off);
  const Var in = tape.constant(x.tensor());
  const Var plain = layer_norm(in, tape.constant(gain.tensor()), {}, 1e-5, Lifetime::passing);
  tape.forget(plain);  // nothing passes where nothing is recorded
  CHECK(numbers_of(plain.value()).size() == 32 * 16);
  CHECK(pool.used_bytes() == 0);
}
