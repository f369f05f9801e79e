#include "core/ops/factor.h"

#include "core/kernels/gemm.h"
#include "core/ops/work.h"

namespace tapeline::inline TAPELINE_PRECISION {

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

OpWork product_work(Var a, Var b, Var bias, Index output, Index inner) {
  const Index product = 2 * output * inner, operands = numbers(a) + numbers(b);
  const Index wanted = (a.needs_grad() ? 1 : 0) + (b.needs_grad() ? 1 : 0);
  return {.flops = product,
          .numbers = operands + numbers(bias) + output,
          .backward_flops = wanted * product,
          .backward_numbers = output + wanted * operands + gradient_numbers(bias)};
}

}  // namespace tapeline::inline TAPELINE_PRECISION
