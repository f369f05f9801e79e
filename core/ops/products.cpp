#include "core/error.h"
#include "core/ops.h"
#include "core/ops/factor.h"
#include "core/ops/operand_text.h"

namespace tapeline::inline TAPELINE_PRECISION {

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
  return a.tape().record("matmul", c, {a, b}, product_work(a, b, {}, c.size(), left.columns()),
                         [=](Var output) {
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

}  // namespace tapeline::inline TAPELINE_PRECISION
