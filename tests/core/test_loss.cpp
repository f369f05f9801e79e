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

std::vector<Token> some_targets(Index count, Index vocabulary) {
  std::vector<Token> targets;
  for (Index i = 0; i < count; ++i)
    targets.push_back(
        i % 5 == 3 ? -1
                   : static_cast<Token>(random_below(random_key(3, "targets"), static_cast<std::uint64_t>(i),
                                                     static_cast<std::uint64_t>(vocabulary))));
  return targets;
}

struct NaiveLoss {
  std::vector<double> losses, d_x, d_head, d_bias;
};

NaiveLoss naive_loss(const Storage& x, const Storage& head, const Storage* bias,
                     const std::vector<Token>& targets) {
  const Index rows = x.shape().rows(), width = x.shape().last(), vocabulary = head.shape()[0];
  const std::size_t v = static_cast<std::size_t>(vocabulary);
  const std::vector<double> xs = numbers_of(x.tensor()), heads = numbers_of(head.tensor());
  std::vector<double> logits = naive_matmul(xs, heads, rows, vocabulary, width, false, true);
  for (std::size_t i = 0; bias != nullptr && i < logits.size(); ++i)
    logits[i] += static_cast<double>(bias->data()[i % v]);
  std::vector<double> p = naive_softmax(logits, vocabulary);
  NaiveLoss result;
  result.d_bias.assign(v, 0);
  for (std::size_t row = 0; row < targets.size(); ++row) {
    const bool scored = targets[row] >= 0;
    result.losses.push_back(scored ? -std::log(p[row * v + static_cast<std::size_t>(targets[row])]) : 0);
    for (std::size_t j = 0; j < v; ++j) {
      double& d = p[row * v + j];
      d = scored ? d - (static_cast<Token>(j) == targets[row] ? 1 : 0) : 0;
      result.d_bias[j] += d;
    }
  }
  result.d_x = naive_matmul(p, heads, rows, width, vocabulary);
  result.d_head = naive_matmul(p, xs, vocabulary, width, rows, true, false);
  return result;
}

// The loss of rows of given logits: an identity as the head.
double loss_of_logits(const std::vector<double>& logits, Token target,
                      std::vector<double>* d_logits = nullptr) {
  const Index vocabulary = static_cast<Index>(logits.size());
  Storage head(Shape{vocabulary, vocabulary});
  for (Index i = 0; i < vocabulary; ++i) head.data()[i * vocabulary + i] = 1;
  const Storage x = filled_storage({1, vocabulary}, logits);
  TestTape tape;
  const Var in = tape->variable(x.tensor());
  LossDetail detail;
  const Token targets[] = {target};
  const Var loss = cross_entropy(in, tape->constant(head.tensor()), {}, targets, &detail);
  tape->backward(loss);
  if (d_logits != nullptr) *d_logits = numbers_of(in.grad());
  return detail.total;
}

}  // namespace

TEST_CASE("cross_entropy: losses and gradients over several chunks and threads") {
  const Index rows = 700, width = 12, vocabulary = 300;  // chunks of 436 rows
  const Storage x = random_storage({7, 100, width}, "x"), head = random_storage({vocabulary, width}, "head"),
                bias = random_storage({vocabulary}, "bias");
  const std::vector<Token> targets = some_targets(rows, vocabulary);
  const NaiveLoss right = naive_loss(x, head, &bias, targets);
  double total = 0;
  for (const double loss : right.losses) total += loss;
  for (const int count : {1, 2, 3}) {
    const ThreadSetting setting(count);
    TestTape tape;
    const Var in = tape->variable(x.tensor()), w = tape->variable(head.tensor()),
              b = tape->variable(bias.tensor());
    std::vector<Real> row_losses(static_cast<std::size_t>(rows));
    LossDetail detail{.row_losses = row_losses};
    const Var loss = cross_entropy(in, w, b, targets, &detail);
    CHECK(loss.shape() == Shape{});
    CHECK(detail.total == doctest::Approx(total).epsilon(1e-6));
    CHECK(double(*loss.value().data) == doctest::Approx(total).epsilon(1e-6));
    CHECK(largest_difference({row_losses.begin(), row_losses.end()}, right.losses) <= rounding());
    tape->backward(loss, Real{0.25});
    std::vector<double> d_x = right.d_x, d_head = right.d_head, d_bias = right.d_bias;
    for (std::vector<double>* d : {&d_x, &d_head, &d_bias}) {
      for (double& g : *d) g *= 0.25;
    }
    CHECK(largest_difference(numbers_of(in.grad()), d_x) <= rounding());
    CHECK(largest_difference(numbers_of(w.grad()), d_head) <= rounding() * 10);
    CHECK(largest_difference(numbers_of(b.grad()), d_bias) <= rounding() * 10);
  }
}

TEST_CASE(
    "cross_entropy: losses and gradients for every instruction set, vocabularies around the vector's width") {
  for_every_instruction_set([](std::int64_t) {
    for (const Index vocabulary : {1, 3, 4, 7, 8, 9, 15, 16, 17, 33, 67}) {
      CAPTURE(vocabulary);
      const Storage x = random_storage({9, 5}, "x"), head = random_storage({vocabulary, 5}, "head"),
                    bias = random_storage({vocabulary}, "bias");
      const std::vector<Token> targets = some_targets(9, vocabulary);
      const NaiveLoss right = naive_loss(x, head, &bias, targets);
      TestTape tape;
      const Var in = tape->variable(x.tensor()), w = tape->variable(head.tensor()),
                b = tape->variable(bias.tensor());
      std::vector<Real> rows(9);
      LossDetail detail{.row_losses = rows};
      tape->backward(cross_entropy(in, w, b, targets, &detail));
      CHECK(largest_difference({rows.begin(), rows.end()}, right.losses) <= rounding());
      CHECK(largest_difference(numbers_of(in.grad()), right.d_x) <= rounding());
      CHECK(largest_difference(numbers_of(w.grad()), right.d_head) <= rounding());
      CHECK(largest_difference(numbers_of(b.grad()), right.d_bias) <= rounding());
    }
  });
}

TEST_CASE("cross_entropy: without a tape the losses are the same and nothing is kept") {
  const Storage x = random_storage({600, 8}, "x"), head = random_storage({256, 8}, "head");
  const std::vector<Token> targets = some_targets(600, 256);
  LossDetail with, without;
  {
    TestTape tape;
    cross_entropy(tape->variable(x.tensor()), tape->variable(head.tensor()), {}, targets, &with);
  }
  TestTape tape(Recording::off);
  const std::size_t used = tape.arena().used_bytes();
  cross_entropy(tape->variable(x.tensor()), tape->variable(head.tensor()), {}, targets, &without);
  CHECK(with.total == without.total);
  CHECK(tape.arena().used_bytes() - used <= 4096);
  // 512 rows of logits at most, never all 600.
  CHECK(tape.arena().peak_bytes() <= (std::size_t{1} << 20) * (sizeof(Real) / 4) + 600 * 8 * 64);
}

TEST_CASE("cross_entropy: gradients") {
  Storage inputs[] = {random_storage({2, 4, 5}, "x"), random_storage({7, 5}, "head"),
                      random_storage({7}, "bias")};
  const std::vector<Token> targets{0, 6, -1, 3, 3, 5, -1, 1};
  gradcheck("cross_entropy", inputs,
            [&](Tape&, std::span<const Var> in) { return cross_entropy(in[0], in[1], in[2], targets); });
  gradcheck("cross_entropy without bias", std::span(inputs, 2), [&](Tape&, std::span<const Var> in) {
    return scale(cross_entropy(in[0], in[1], {}, targets), Real{0.5});
  });
  gradcheck("cross_entropy twice", std::span(inputs, 2), [&](Tape&, std::span<const Var> in) {
    return add(cross_entropy(in[0], in[1], {}, targets), cross_entropy(in[0], in[1], {}, targets));
  });
}

TEST_CASE("cross_entropy: shifted by the maximum") {
  std::vector<double> d;
  CHECK(loss_of_logits({-431, 279, 427}, 0, &d) == doctest::Approx(858));
  CHECK(d[0] == doctest::Approx(-1));
  CHECK(std::abs(d[1]) <= 1e-30);
  CHECK(d[2] == doctest::Approx(1));
  CHECK(loss_of_logits({800, 0}, 1) == doctest::Approx(800));
  CHECK(loss_of_logits({-800, -800}, 0) == doctest::Approx(std::log(2.0)));
}

TEST_CASE("cross_entropy: a head of zeros knows nothing") {
  const Storage x = random_storage({3, 4}, "x"), head(Shape{65, 4});
  TestTape tape;
  LossDetail detail;
  const Token targets[] = {0, 64, 31};
  cross_entropy(tape->constant(x.tensor()), tape->variable(head.tensor()), {}, targets, &detail);
  CHECK(std::exp(detail.total / 3) == doctest::Approx(65.0).epsilon(1e-9));
}

TEST_CASE("cross_entropy: a table tied to the embedding gets both gradients") {
  const Storage table = filled_storage({2, 1}, {1, 3});
  TestTape tape;
  const Var t = tape->variable(table.tensor());
  const Token ids[] = {0}, targets[] = {1};
  tape->backward(cross_entropy(embedding(t, ids, 1, 1), t, {}, targets));
  for (int i = 0; i < 2; ++i) CHECK(double(t.grad().data[i]) == doctest::Approx(-.119203).epsilon(1e-5));
}

TEST_CASE("cross_entropy: NaN and infinity reach the loss, in their row alone") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (const double bad : {nan, inf}) {
    Storage x = random_storage({4, 3}, "x");
    x.data()[4] = static_cast<Real>(bad);
    const Storage head = random_storage({20, 3}, "head");
    const Token targets[] = {1, 2, 3, 4};
    std::vector<Real> rows(4);
    LossDetail detail{.row_losses = rows};
    TestTape tape;
    cross_entropy(tape->variable(x.tensor()), tape->variable(head.tensor()), {}, targets, &detail);
    CHECK(std::isnan(detail.total));
    for (std::size_t i = 0; i < 4; ++i) CHECK(std::isnan(rows[i]) == (i == 1));
  }
}

TEST_CASE("cross_entropy: no rows, and rows that are all unscored") {
  const Storage none(Shape{0, 3}), x = random_storage({2, 3}, "x"), head = random_storage({4, 3}, "head");
  TestTape tape;
  const Var w = tape->variable(head.tensor()), in = tape->variable(x.tensor());
  const Token unscored[] = {-1, -1};
  const Var loss =
      add(cross_entropy(tape->variable(none.tensor()), w, {}, {}), cross_entropy(in, w, {}, unscored));
  CHECK(*loss.value().data == 0);
  tape->backward(loss);
  CHECK(numbers_of(w.grad()) == std::vector<double>(12, 0.0));
  CHECK(numbers_of(in.grad()) == std::vector<double>(6, 0.0));
}

TEST_CASE("cross_entropy: errors name the operands") {
  const Storage a(Shape{2, 3}), h(Shape{4, 5}), good(Shape{4, 3}), b(Shape{3});
  TestTape tape;
  const Var x = tape->constant(a.tensor()), head = tape->constant(good.tensor());
  const Token two[] = {0, 4}, three[] = {0, 1, 2};
  CHECK_THROWS_WITH_AS(
      cross_entropy(x, tape->constant(h.tensor()), {}, two),
      "cross_entropy: x is [2, 3], head is [4, 5]; the last extent of x must be the head's second",
      ShapeError);
  CHECK_THROWS_WITH_AS(cross_entropy(x, head, tape->constant(b.tensor()), two),
                       "cross_entropy: bias is [3], head is [4, 3]; expected a bias of [4]", ShapeError);
  CHECK_THROWS_WITH_AS(cross_entropy(x, head, {}, three),
                       "cross_entropy: x is [2, 3] with 2 rows, targets are 3; expected one a row",
                       ShapeError);
  CHECK_THROWS_WITH_AS(cross_entropy(x, head, {}, two),
                       "cross_entropy: target 1 is 4; expected 0 to 3, or -1 for a row that is not scored",
                       ShapeError);
}

}  // namespace tapeline::inline TAPELINE_PRECISION
