// An operation of one's own on the tape: softplus(x) = ln(1 + e^x), with its gradient, checked by finite
// differences.
//
// An op makes a tensor, fills it, and records it with a rule. The rule is run by Tape::backward() when the
// gradient of the op's output is complete; it adds to the gradients of the inputs. It is kept in the tape's
// memory and never destroyed, so it captures handles and numbers only.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/arena.h"
#include "core/gradient_pool.h"
#include "core/ops.h"
#include "core/tape.h"
#include "core/tensor.h"

using namespace tapeline;

Var softplus(Var x) {
  const Tensor y = x.tape().allocate(x.shape());
  const Real* in = x.value().data;
  for (Index i = 0; i < y.size(); ++i)
    y.data[i] = std::max(in[i], Real{0}) + std::log1p(std::exp(-std::abs(in[i])));
  return x.tape().record("softplus", y, {x}, [x](Var output) {
    const Tensor d_x = x.grad(), d_y = output.grad();  // zero at first use: rules add
    for (Index i = 0; i < d_x.size(); ++i) d_x.data[i] += d_y.data[i] / (1 + std::exp(-x.value().data[i]));
  });
}

// What is differentiated: a number made of x by the new op and some that are there already.
Var loss_of(Var x) { return sum(multiply(softplus(x), gelu(x))); }

double loss_at(const Storage& x) {
  Arena arena;
  GradientPool pool;
  Tape tape(arena, pool, Recording::off);
  return loss_of(tape.constant(x.tensor())).value().data[0];
}

int main() {
  const Storage x({2, 5});
  for (Index i = 0; i < 10; ++i) x.data()[i] = 0.7 * static_cast<Real>(i) - 3;

  Arena arena;
  GradientPool pool;
  Tape tape(arena, pool);
  const Var input = tape.variable(x.tensor());
  tape.backward(loss_of(input));

  double worst = 0;
  std::printf("     x   d loss/d x   by differences\n");
  for (Index i = 0; i < 10; ++i) {
    const Real kept = x.data()[i], step = 1e-5;
    x.data()[i] = kept + step;
    const double above = loss_at(x);
    x.data()[i] = kept - step;
    const double below = loss_at(x);
    x.data()[i] = kept;
    const double difference = (above - below) / (2 * step), gradient = input.grad().data[i];
    std::printf("%6.2f %12.8f %16.8f\n", kept, gradient, difference);
    worst = std::max(worst, std::abs(gradient - difference));
  }
  std::printf("largest error %.1e: %s\n", worst,
              worst < 1e-8 ? "the gradient is right" : "the gradient is wrong");
  return worst < 1e-8 ? 0 : 1;
}
