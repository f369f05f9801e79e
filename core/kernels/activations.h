#pragma once

#include "core/real.h"

/// Activation functions, element by element, `count` numbers or `rows` rows at a time; parallel inside.
/// Gradients: d_x = beta d_x + d_y * derivative(x), beta 0 or 1; with 0 the old d_x is not read.
namespace tapeline::inline TAPELINE_PRECISION {

/// y = x Phi(x), Phi the standard normal distribution function, right to rounding in both tails.
void gelu_forward(const Real* x, Index count, Real* y);
/// derivative: Phi(x) + x phi(x), phi the normal density.
void gelu_backward(const Real* x, const Real* d_y, Index count, Real beta, Real* d_x);

/// y = x/2 (1 + tanh(z)) = x logistic(2 z), z = sqrt(2/pi) (x + 0.044715 x^3).
void gelu_tanh_forward(const Real* x, Index count, Real* y);
void gelu_tanh_backward(const Real* x, const Real* d_y, Index count, Real beta, Real* d_x);

/// Gelu of a product in one pass: with v = z + bias (bias [width], null: none), y = gelu(v) and `slopes` the
/// derivative at v. Either may be null, then it is not wanted, and either may be z itself. z, y, slopes
/// [rows, width].
void biased_gelu(const Real* z, const Real* bias, Index rows, Index width, Real* y, Real* slopes);
void biased_gelu_tanh(const Real* z, const Real* bias, Index rows, Index width, Real* y, Real* slopes);

/// y = a b logistic(b), x = [b | a]: x [rows, 2 width], y [rows, width].
void swiglu_forward(const Real* x, Index rows, Index width, Real* y);
void swiglu_backward(const Real* x, const Real* d_y, Index rows, Index width, Real beta, Real* d_x);

}  // namespace tapeline::inline TAPELINE_PRECISION
