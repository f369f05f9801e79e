#include <algorithm>

#include "core/error.h"
#include "core/kernels/activations.h"
#include "core/ops.h"
#include "core/ops/linear_operands.h"
#include "core/ops/operand_text.h"
#include "core/ops/work.h"

namespace tapeline::inline TAPELINE_PRECISION {

LinearOperands::LinearOperands(const char* op, Var of_x, Var of_weight, Var of_bias)
    : x(of_x), weight(of_weight), bias(of_bias) {
  require<ShapeError>(x && weight && x.shape().rank() >= 1 && weight.shape().rank() == 2 &&
                          x.shape().last() == weight.shape()[1],
                      "{}: x is {}, weight is {}; the last extent of x must be the weight's second", op,
                      text(x), text(weight));
  out = weight.shape()[0], in = weight.shape()[1], rows = x.shape().rows();
  require<ShapeError>(!bias || bias.shape() == Shape{out},
                      "{}: bias is {}, weight is {}; expected a bias of [{}]", op, text(bias), text(weight),
                      out);
}

// The bias comes first and the product is added to it: cheaper than another pass over y.
void LinearOperands::multiply(const Tensor& y) const {
  if (bias) fill_rows(bias.value().data, rows, out, y.data);
  multiply_into(x_rows(), transpose(w()), {y, bias ? Real{1} : Real{0}});
}

void LinearOperands::differentiate(const Tensor& d_product) const {
  const Factor d_y{d_product.reshaped({rows, out})};
  if (x.needs_grad()) multiply_into(d_y, w(), x.grad_target());
  if (weight.needs_grad()) multiply_into(transpose(d_y), x_rows(), weight.grad_target());
}

void LinearOperands::sum_bias(const Tape& tape, const Tensor& d_product) const {
  if (!bias_wanted()) return;
  const GradientTarget d_bias = bias.grad_target();
  column_sums(d_product.data, rows, out, d_bias.beta, d_bias.tensor.data, scratch_for_sums(tape, out));
}

Real* scratch_for_sums(const Tape& tape, Index width) {
  return tape.arena().allocate_array<Real>(static_cast<std::size_t>(column_sums_scratch(width)));
}

Var linear(Var x, Var weight, Var bias) {
  const LinearOperands operands("linear", x, weight, bias);
  const OpScope watched(x.tape(), "linear");
  const Tensor y = x.tape().allocate(x.shape().with_last(operands.out));
  operands.multiply(y);
  return x.tape().record("linear", y, {x, weight, bias}, operands.work(), [operands](Var output) {
    operands.differentiate(output.grad());
    operands.sum_bias(output.tape(), output.grad());
  });
}

Var linear_onto(Var stream, Var x, Var weight, Var bias) {
  const LinearOperands operands("linear_onto", x, weight, bias);
  const Shape shape = x.shape().with_last(operands.out);
  require<ShapeError>(
      stream && stream.shape() == shape,
      "linear_onto: stream is {}, the product of x {} and weight {} is {}; they must be equal", text(stream),
      text(x), text(weight), shape.text());
  const OpScope watched(x.tape(), "linear_onto");
  const Tensor y = x.tape().allocate(shape);
  // Stream and bias come first and the product is added to them.
  add_row(stream.value().data, bias ? bias.value().data : nullptr, operands.rows, operands.out, y.data);
  multiply_into(operands.x_rows(), transpose(operands.w()), {y, Real{1}});
  OpWork work = operands.work();
  work.numbers += numbers(stream);  // its gradient is handed on as it stands
  return x.tape().record("linear_onto", y, {stream, x, weight, bias}, work, [operands, stream](Var output) {
    const Tensor d_y = output.grad();
    operands.differentiate(d_y);
    operands.sum_bias(output.tape(), d_y);
    if (stream.needs_grad()) output.hand_grad_to(stream);
  });
}

namespace {

using BiasedGelu = void (*)(const Real* z, const Real* bias, Index rows, Index width, Real* y, Real* slopes);

Var linear_and_gelu(const char* op, BiasedGelu gelu, Var x, Var weight, Var bias, Lifetime lifetime) {
  const LinearOperands operands(op, x, weight, bias);
  Tape& tape = x.tape();
  const OpScope watched(tape, op);
  const Shape shape = x.shape().with_last(operands.out);
  const bool passes = lifetime == Lifetime::passing && tape.recording();
  const Tensor y = passes ? tape.allocate_passing(shape) : tape.allocate(shape);
  // What the gelu is taken of; without a tape nobody asks for it again.
  const Tensor product = tape.recording() ? tape.allocate(shape) : y;
  multiply_into(operands.x_rows(), transpose(operands.w()), {product, 0});
  const auto apply = [=](Real* values, Real* slopes) {
    gelu(product.data, bias ? bias.value().data : nullptr, operands.rows, operands.out, values, slopes);
  };
  apply(y.data, nullptr);
  // Whether the derivative of the gelu has taken the product's place: it does so when y is made again for the
  // backward run, which shares most of the work, or else when the rule runs.
  bool* const sloped = new (tape.arena().allocate(sizeof(bool))) bool(false);
  OpWork work = operands.work();
  work.numbers += tape.recording() ? product.size() : 0, work.backward_numbers += product.size();
  const Var output = tape.record(op, y, {x, weight, bias}, work, [=](Var result) {
    if (!*sloped) apply(nullptr, product.data);
    // The gradient of y is this rule's alone: it becomes that of the product where it stands.
    const Tensor d_y = result.grad();
    const GradientTarget d_bias = operands.bias_wanted() ? operands.bias.grad_target() : GradientTarget{};
    multiply_and_sum_columns(product.data, operands.rows, operands.out, d_y.data, d_bias.beta,
                             d_bias.tensor.data, scratch_for_sums(result.tape(), operands.out));
    operands.differentiate(d_y);
  });
  if (passes) {
    tape.passing(output, [=](const Tensor& value) {
      *sloped = x.tape().running_backward();
      apply(value.data, *sloped ? product.data : nullptr);
    });
  }
  return output;
}

}  // namespace

Var linear_gelu(Var x, Var weight, Var bias, Lifetime lifetime) {
  return linear_and_gelu("linear_gelu", &biased_gelu, x, weight, bias, lifetime);
}

Var linear_gelu_tanh(Var x, Var weight, Var bias, Lifetime lifetime) {
  return linear_and_gelu("linear_gelu_tanh", &biased_gelu_tanh, x, weight, bias, lifetime);
}

}  // namespace tapeline::inline TAPELINE_PRECISION
