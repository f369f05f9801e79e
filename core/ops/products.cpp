#include "core/error.h"
#include "core/kernels/activations.h"
#include "core/kernels/gemm.h"
#include "core/kernels/rows.h"
#include "core/ops.h"
#include "core/ops/operand_text.h"
#include "core/ops/work.h"

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

// A matrix as it is stored, and whether it enters the product transposed.
struct Factor {
  Tensor matrix;
  bool transposed = false;
  Index rows() const { return matrix.shape[transposed ? 1 : 0]; }
  Index columns() const { return matrix.shape[transposed ? 0 : 1]; }
};
Factor transpose(const Factor& f) { return {f.matrix, !f.transposed}; }

// One product forward, and one for each gradient that is wanted; `inner` is the extent that it sums over.
OpWork work_of(Var a, Var b, Var bias, Index output, Index inner) {
  const Index product = 2 * output * inner, operands = numbers(a) + numbers(b);
  const Index wanted = (a.needs_grad() ? 1 : 0) + (b.needs_grad() ? 1 : 0);
  return {.flops = product,
          .numbers = operands + numbers(bias) + output,
          .backward_flops = wanted * product,
          .backward_numbers = output + wanted * operands + gradient_numbers(bias)};
}

// out = op(a) op(b) + beta out.
void multiply_into(const Factor& a, const Factor& b, const GradientTarget& out) {
  gemm({.transpose_a = a.transposed,
        .transpose_b = b.transposed,
        .m = a.rows(),
        .n = b.columns(),
        .k = a.columns(),
        .a = a.matrix.data,
        .lda = a.matrix.shape[1],
        .b = b.matrix.data,
        .ldb = b.matrix.shape[1],
        .beta = out.beta,
        .c = out.tensor.data,
        .ldc = b.columns()});
}

}  // namespace

Var matmul(Var a, Var b, Transposed transpose_a, Transposed transpose_b) {
  const bool ta = transpose_a == Transposed::yes, tb = transpose_b == Transposed::yes;
  require<ShapeError>(a && b && a.shape().rank() == 2 && b.shape().rank() == 2,
                      "matmul: a is {}, b is {}; both must be matrices", text(a), text(b));
  const Factor left{a.value(), ta}, right{b.value(), tb};
  require<ShapeError>(left.columns() == right.rows(),
                      "matmul: a is {}{}, b is {}{}; inner extents must match", text(a),
                      ta ? " transposed" : "", text(b), tb ? " transposed" : "");
  const OpScope watched(a.tape(), "matmul");
  const Tensor c = a.tape().allocate({left.rows(), right.columns()});
  multiply_into(left, right, {c, 0});
  // C = A B: d_A = d_C B^T, d_B = A^T d_C; where an operand entered transposed, the transposes of these.
  return a.tape().record("matmul", c, {a, b}, work_of(a, b, {}, c.size(), left.columns()), [=](Var output) {
    const Factor d_c{output.grad(), false};
    if (a.needs_grad()) {
      const GradientTarget d_a = a.grad_target();
      if (ta) {
        multiply_into(right, transpose(d_c), d_a);
      } else {
        multiply_into(d_c, transpose(right), d_a);
      }
    }
    if (b.needs_grad()) {
      const GradientTarget d_b = b.grad_target();
      if (tb) {
        multiply_into(transpose(d_c), left, d_b);
      } else {
        multiply_into(transpose(left), d_c, d_b);
      }
    }
  });
}

namespace {

// The operands of linear(), as matrices.
struct LinearOperands {
  Var x, weight, bias;
  Index rows, in, out;

  LinearOperands(const char* op, Var of_x, Var of_weight, Var of_bias)
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

  Factor x_rows() const { return {x.value().reshaped({rows, in})}; }
  Factor w() const { return {weight.value()}; }
  bool bias_wanted() const { return bias && bias.needs_grad(); }
  OpWork work() const { return work_of(x, weight, bias, rows * out, in); }

  // The gradients of x and weight, from that of the product [rows, out].
  void differentiate(const Tensor& d_product) const {
    const Factor d_y{d_product.reshaped({rows, out})};
    if (x.needs_grad()) multiply_into(d_y, w(), x.grad_target());
    if (weight.needs_grad()) multiply_into(transpose(d_y), x_rows(), weight.grad_target());
  }
};

Real* scratch_for_sums(const Tape& tape, Index width) {
  return tape.arena().allocate_array<Real>(static_cast<std::size_t>(column_sums_scratch(width)));
}

}  // namespace

Var linear(Var x, Var weight, Var bias) {
  const LinearOperands operands("linear", x, weight, bias);
  const OpScope watched(x.tape(), "linear");
  const Tensor y = x.tape().allocate(x.shape().with_last(operands.out));
  // The bias comes first and the product is added to it: cheaper than another pass over y.
  if (bias) fill_rows(bias.value().data, operands.rows, operands.out, y.data);
  multiply_into(operands.x_rows(), transpose(operands.w()), {y, bias ? Real{1} : Real{0}});
  return x.tape().record("linear", y, {x, weight, bias}, operands.work(), [operands](Var output) {
    operands.differentiate(output.grad());
    if (!operands.bias_wanted()) return;
    const GradientTarget d_bias = operands.bias.grad_target();
    column_sums(output.grad().data, operands.rows, operands.out, d_bias.beta, d_bias.tensor.data,
                scratch_for_sums(output.tape(), operands.out));
  });
}

namespace {

using BiasedGelu = void (*)(const Real* z, const Real* bias, Index rows, Index width, Real* y, Real* slopes);

Var linear_and_gelu(const char* op, BiasedGelu gelu, Var x, Var weight, Var bias) {
  const LinearOperands operands(op, x, weight, bias);
  const OpScope watched(x.tape(), op);
  const Tensor y = x.tape().allocate(x.shape().with_last(operands.out));
  // The product, in whose place the derivative of the gelu then stands; without a tape nobody asks for that.
  const bool recording = x.tape().recording();
  const Tensor slopes = recording ? x.tape().allocate(y.shape) : y;
  multiply_into(operands.x_rows(), transpose(operands.w()), {slopes, 0});
  gelu(slopes.data, bias ? bias.value().data : nullptr, operands.rows, operands.out, y.data,
       recording ? slopes.data : nullptr);
  return x.tape().record(op, y, {x, weight, bias}, operands.work(), [operands, slopes](Var output) {
    // The gradient of y is this rule's alone: it becomes that of the product where it stands.
    const Tensor d_y = output.grad();
    const GradientTarget d_bias = operands.bias_wanted() ? operands.bias.grad_target() : GradientTarget{};
    multiply_and_sum_columns(slopes.data, operands.rows, operands.out, d_y.data, d_bias.beta,
                             d_bias.tensor.data, scratch_for_sums(output.tape(), operands.out));
    operands.differentiate(d_y);
  });
}

}  // namespace

Var linear_gelu(Var x, Var weight, Var bias) {
  return linear_and_gelu("linear_gelu", &biased_gelu, x, weight, bias);
}

Var linear_gelu_tanh(Var x, Var weight, Var bias) {
  return linear_and_gelu("linear_gelu_tanh", &biased_gelu_tanh, x, weight, bias);
}

}  // namespace tapeline::inline TAPELINE_PRECISION
