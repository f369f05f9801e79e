#include <algorithm>

#include "core/error.h"
#include "core/ops.h"
#include "core/ops/operand_text.h"
#include "core/ops/rotation.h"
#include "core/parallel.h"

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

template <TurnDirection direction, bool accumulate>
void turn_pairs(const Turn& turn, Index row, const Real* from, Real* to, Index head_width) {
  const auto put = [](Real& place, Real number) { place = accumulate ? place + number : number; };
  const Index pairs = turn.width / 2;
  const Real* cosine = turn.cosine + row * pairs;
  const Real* sine = turn.sine + row * pairs;
  const auto turn_pair = [&](Index p, Index a, Index b) {
    const Real c = cosine[p];
    const Real s = direction == TurnDirection::forward ? sine[p] : -sine[p];
    const Real x = from[a], y = from[b];
    put(to[a], x * c - y * s);
    put(to[b], y * c + x * s);
  };
  if (turn.pairing == Pairing::half) {
    for (Index p = 0; p < pairs; ++p) turn_pair(p, p, p + pairs);
  } else {
    for (Index p = 0; p < pairs; ++p) turn_pair(p, 2 * p, 2 * p + 1);
  }
  for (Index i = turn.width; i < head_width; ++i) put(to[i], from[i]);
}

}  // namespace

Turn turn_of(std::string_view op, const Rotation& rotation, Index time, Index head_width) {
  if (!rotation) return {};
  require<ShapeError>(
      rotation.width >= 0 && rotation.width % 2 == 0 && rotation.width <= head_width,
      "{}: the rotated width is {}, the head width {}; expected an even width within the head", op,
      rotation.width, head_width);
  const Shape expected{time, rotation.width / 2};
  require<ShapeError>(
      rotation.sine && rotation.cosine.shape() == expected && rotation.sine.shape() == expected,
      "{}: cosine is {}, sine is {}; expected {} for {} rows and a rotated width of {}", op,
      rotation.cosine.shape().text(), text(rotation.sine), expected.text(), time, rotation.width);
  require<StateError>(!rotation.cosine.needs_grad() && !rotation.sine.needs_grad(),
                      "{}: the rotation tables want a gradient, which this op does not give; pass constants",
                      op);
  return {rotation.cosine.value().data, rotation.sine.value().data, rotation.width, rotation.pairing};
}

void turn_row(const Turn& turn, TurnDirection direction, bool accumulate, Index row, const Real* from,
              Real* to, Index head_width) {
  if (direction == TurnDirection::forward) {
    accumulate ? turn_pairs<TurnDirection::forward, true>(turn, row, from, to, head_width)
               : turn_pairs<TurnDirection::forward, false>(turn, row, from, to, head_width);
  } else {
    accumulate ? turn_pairs<TurnDirection::transposed, true>(turn, row, from, to, head_width)
               : turn_pairs<TurnDirection::transposed, false>(turn, row, from, to, head_width);
  }
}

Var rotate(Var x, const Rotation& rotation) {
  require<ShapeError>(x && x.shape().rank() == 4,
                      "rotate: x is {}; expected [batch, heads, time, head width]", text(x));
  if (!rotation) return x;
  const Index time = x.shape()[2], head_width = x.shape()[3];
  const Turn turn = turn_of("rotate", rotation, time, head_width);
  const auto turn_all = [turn, time, head_width](const Tensor& from, const Tensor& to,
                                                 TurnDirection direction, bool accumulate) {
    const Index grain = std::max<Index>(1, (Index{1} << 13) / std::max<Index>(head_width, 1));
    parallel_for(from.shape.rows(), grain, [&](Index begin, Index end) {
      for (Index row = begin; row < end; ++row) {
        turn_row(turn, direction, accumulate, row % time, from.data + row * head_width,
                 to.data + row * head_width, head_width);
      }
    });
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
