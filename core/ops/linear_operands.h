#pragma once

#include "core/kernels/rows.h"
#include "core/ops/factor.h"

/// What linear() and the ops that do more around its product have in common.
namespace tapeline::inline TAPELINE_PRECISION {

/// The operands of y = x W^T + bias, as matrices.
struct LinearOperands {
  Var x, weight, bias;
  Index rows, in, out;

  /// Throws ShapeError naming `op`.
  LinearOperands(const char* op, Var of_x, Var of_weight, Var of_bias);

  Factor x_rows() const { return {x.value().reshaped({rows, in})}; }
  Factor w() const { return {weight.value()}; }
  bool bias_wanted() const { return bias && bias.needs_grad(); }
  OpWork work() const { return product_work(x, weight, bias, rows * out, in); }

  /// y = x W^T + bias, [rows, out].
  void multiply(const Tensor& y) const;
  /// The gradients of x and weight, from that of the product [rows, out].
  void differentiate(const Tensor& d_product) const;
  /// The gradient of the bias, where it is wanted.
  void sum_bias(const Tape& tape, const Tensor& d_product) const;
};

/// Scratch for sums over the rows of a matrix of `width` columns.
Real* scratch_for_sums(const Tape& tape, Index width);

}  // namespace tapeline::inline TAPELINE_PRECISION
