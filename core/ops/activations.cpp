#include "core/kernels/activations.h"

#include "core/error.h"
#include "core/ops.h"
#include "core/ops/operand_text.h"

namespace tapeline::inline TAPELINE_PRECISION {

Var gelu(Var x) {
  require<ShapeError>(static_cast<bool>(x), "gelu: x is absent");
  const OpScope watched(x.tape(), "gelu");
  const Tensor y = x.tape().allocate(x.shape());
  gelu_forward(x.value().data, y.size(), y.data);
  const OpWork work{.numbers = 2 * y.size(), .backward_numbers = 3 * y.size()};
  return x.tape().record("gelu", y, {x}, work, [x](Var output) {
    const GradientTarget d_x = x.grad_target();
    gelu_backward(x.value().data, output.grad().data, d_x.tensor.size(), d_x.beta, d_x.tensor.data);
  });
}

Var gelu_tanh(Var x) {
  require<ShapeError>(static_cast<bool>(x), "gelu_tanh: x is absent");
  const OpScope watched(x.tape(), "gelu_tanh");
  const Tensor y = x.tape().allocate(x.shape());
  gelu_tanh_forward(x.value().data, y.size(), y.data);
  const OpWork work{.numbers = 2 * y.size(), .backward_numbers = 3 * y.size()};
  return x.tape().record("gelu_tanh", y, {x}, work, [x](Var output) {
    const GradientTarget d_x = x.grad_target();
    gelu_tanh_backward(x.value().data, output.grad().data, d_x.tensor.size(), d_x.beta, d_x.tensor.data);
  });
}

Var swiglu(Var x) {
  require<ShapeError>(x && x.shape().rank() >= 1 && x.shape().last() % 2 == 0,
                      "swiglu: x is {}; its last extent must be even: gate and value side by side", text(x));
  const OpScope watched(x.tape(), "swiglu");
  const Index rows = x.shape().rows(), width = x.shape().last() / 2;
  const Tensor y = x.tape().allocate(x.shape().with_last(width));
  swiglu_forward(x.value().data, rows, width, y.data);
  const OpWork work{.numbers = 3 * y.size(), .backward_numbers = 5 * y.size()};
  return x.tape().record("swiglu", y, {x}, work, [x, rows, width](Var output) {
    const GradientTarget d_x = x.grad_target();
    swiglu_backward(x.value().data, output.grad().data, rows, width, d_x.beta, d_x.tensor.data);
  });
}

}  // namespace tapeline::inline TAPELINE_PRECISION
