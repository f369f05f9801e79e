#pragma once

#include "core/tape.h"

/// What every op around a product is made of.
namespace tapeline::inline TAPELINE_PRECISION {

/// A matrix as it is stored, and whether it enters the product transposed.
struct Factor {
  Tensor matrix;
  bool transposed = false;
  Index rows() const { return matrix.shape[transposed ? 1 : 0]; }
  Index columns() const { return matrix.shape[transposed ? 0 : 1]; }
};
inline Factor transpose(const Factor& f) { return {f.matrix, !f.transposed}; }

/// out = op(a) op(b) + beta out.
void multiply_into(const Factor& a, const Factor& b, const GradientTarget& out);

/// One product forward, and one for each gradient that is wanted; `inner` is the extent that it sums over.
OpWork product_work(Var a, Var b, Var bias, Index output, Index inner);

}  // namespace tapeline::inline TAPELINE_PRECISION
