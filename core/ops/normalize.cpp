#include "core/kernels/normalize.h"

#include "core/error.h"
#include "core/ops.h"
#include "core/ops/operand_text.h"
#include "core/ops/work.h"

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

// Layer norm; without `centred`, RMS norm. Saved for the gradient: mean and 1/deviation of each row.
Var normalize(std::string_view op, Var x, Var gain, Var shift, double epsilon, Lifetime lifetime,
              bool centred) {
  require<ShapeError>(x && gain && x.shape().rank() >= 1 && gain.shape() == Shape{x.shape().last()},
                      "{}: x is {}, gain is {}; expected a gain as long as the last extent of x", op, text(x),
                      text(gain));
  require<ShapeError>(!shift || shift.shape() == gain.shape(), "{}: gain is {}, shift is {}; they must agree",
                      op, text(gain), text(shift));
  const Index rows = x.shape().rows(), width = x.shape().last();
  Tape& tape = x.tape();
  const OpScope watched(tape, op);
  const bool passes = lifetime == Lifetime::passing && tape.recording();
  const Tensor y = passes ? tape.allocate_passing(x.shape()) : tape.allocate(x.shape());
  Real* mean = centred ? tape.allocate({rows}).data : nullptr;
  Real* rstd = tape.allocate({rows}).data;
  const auto fill = [=](const Tensor& value) {
    normalize_forward({.rows = rows,
                       .width = width,
                       .x = x.value().data,
                       .gain = gain.value().data,
                       .shift = shift ? shift.value().data : nullptr,
                       .epsilon = epsilon,
                       .y = value.data,
                       .mean = mean,
                       .rstd = rstd});
  };
  fill(y);
  const OpWork work{.numbers = 2 * y.size() + numbers(gain) + numbers(shift),
                    .backward_numbers = 2 * y.size() + numbers(gain) + gradient_numbers(x) +
                                        gradient_numbers(gain) + gradient_numbers(shift)};
  const Var normed = tape.record(op, y, {x, gain, shift}, work, [=](Var output) {
    const GradientTarget none{};
    const GradientTarget d_x = x.needs_grad() ? x.grad_target() : none;
    const GradientTarget d_gain = gain.needs_grad() ? gain.grad_target() : none;
    const GradientTarget d_shift = shift && shift.needs_grad() ? shift.grad_target() : none;
    normalize_backward({.rows = rows,
                        .width = width,
                        .x = x.value().data,
                        .gain = gain.value().data,
                        .mean = mean,
                        .rstd = rstd,
                        .d_y = output.grad().data,
                        .d_x = d_x.tensor.data,
                        .d_x_beta = d_x.beta,
                        .d_gain = d_gain.tensor.data,
                        .d_gain_beta = d_gain.beta,
                        .d_shift = d_shift.tensor.data,
                        .d_shift_beta = d_shift.beta,
                        .scratch = output.tape().arena().allocate_array<Real>(
                            static_cast<std::size_t>(normalize_backward_scratch(width)))});
  });
  if (passes) tape.passing(normed, fill);
  return normed;
}

}  // namespace

Var layer_norm(Var x, Var gain, Var shift, double epsilon, Lifetime lifetime) {
  return normalize("layer_norm", x, gain, shift, epsilon, lifetime, true);
}

Var rms_norm(Var x, Var gain, double epsilon, Lifetime lifetime) {
  return normalize("rms_norm", x, gain, {}, epsilon, lifetime, false);
}

}  // namespace tapeline::inline TAPELINE_PRECISION
