#include "core/error.h"
#include "core/ops.h"
#include "core/ops/operand_text.h"
#include "core/ops/rotation.h"

namespace tapeline::inline TAPELINE_PRECISION {
Turn turn_of(std::string_view op, const Rotation& rotation, Index time, Index head_width) {
  if (!rotation) return {};
  require<ShapeError>(
      rotation.width >= 0 && rotation.width % 2 == 0 && rotation.width <= head_width,
      "{}: the rotated width is {}, the head width {}; expected an even width within the head", op,
      rotation.width, head_width);
  const Shape expected{time, rotation.width / 2};
  require<ShapeError>(
      rotation.sine && rotation.cosine.shape() == expected && rotation.sine.shape() == expected,
      "{}: cosine is {}, sine is {}; expected [{}, {}] for {} rows and a rotated width of {}", op,
      text(rotation.cosine), text(rotation.sine), time, rotation.width / 2, time, rotation.width);
  require<StateError>(!rotation.cosine.needs_grad() && !rotation.sine.needs_grad(),
                      "{}: the rotation tables want a gradient, which this op does not give; pass constants",
                      op);
  return {rotation.cosine.value().data, rotation.sine.value().data, rotation.width, rotation.pairing};
}

Var rotate(Var x, const Rotation& rotation) {
  require<ShapeError>(x && x.shape().rank() == 4,
                      "rotate: x is {}; expected [batch, heads, time, head width]", text(x));
  if (!rotation) return x;
  const Index batch = x.shape()[0], heads = x.shape()[1], time = x.shape()[2], width = x.shape()[3];
  const Turn turn = turn_of("rotate", rotation, time, width);
  const HeadRows rows = HeadRows::by_head(heads, time, width);
  const auto turn_all = [=](const Tensor& from, const Tensor& to, TurnDirection direction, bool accumulate) {
    turn_heads({turn, direction, accumulate, batch, time, heads, width, from.data, rows, to.data, rows});
  };
  const OpScope watched(x.tape(), "rotate");
  const Tensor out = x.tape().allocate(x.shape());
  turn_all(x.value(), out, TurnDirection::forward, false);
  const Index moved = 2 * out.size() + turn.numbers(time);
  return x.tape().record(
      "rotate", out, {x}, {.numbers = moved, .backward_numbers = moved}, [x, turn_all](Var output) {
        const GradientTarget target = x.grad_target();
        turn_all(output.grad(), target.tensor, TurnDirection::transposed, target.beta != 0);
      });
}

}  // namespace tapeline::inline TAPELINE_PRECISION
