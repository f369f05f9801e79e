#include <array>

#include "core/error.h"
#include "core/ops.h"
#include "core/ops/head_columns.h"
#include "core/ops/linear_operands.h"
#include "core/ops/rotation.h"

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

/// Some heads of joint rows and how they are turned.
struct TurnedColumns {
  HeadColumns columns;
  Turn turn;

  /// Turns them where they stand.
  void apply(Real* rows, TurnDirection direction) const {
    if (turn.width == 0) return;
    Real* const first = rows + columns.first;
    turn_heads({turn, direction, false, columns.batch, columns.time, columns.heads, columns.width, first,
                columns.in_rows(), first, columns.in_rows()});
  }
  /// Numbers read and written.
  Index moved() const {
    return turn.width == 0 ? 0 : 2 * columns.shape().size() + turn.numbers(columns.time);
  }
};

}  // namespace

Var linear_heads(Var x, Var weight, Var bias, Index heads, Index key_value_heads,
                 const Rotation& query_rotation, const Rotation& key_rotation) {
  constexpr const char* op = "linear_heads";
  const LinearOperands operands(op, x, weight, bias);
  Tape& tape = x.tape();
  const OpScope watched(tape, op);
  const Tensor y = tape.allocate(x.shape().with_last(operands.out));
  const std::array<HeadColumns, 3> columns = joint_columns(op, y.shape, heads, key_value_heads);
  const Index time = columns[0].time, width = columns[0].width;
  const TurnedColumns query{columns[0], turn_of(op, query_rotation, time, width)},
      key{columns[1], turn_of(op, key_rotation, time, width)};
  operands.multiply(y);
  query.apply(y.data, TurnDirection::forward);
  key.apply(y.data, TurnDirection::forward);
  OpWork work = operands.work();
  work.numbers += query.moved() + key.moved(), work.backward_numbers += query.moved() + key.moved();
  return tape.record(op, y, {x, weight, bias}, work, [operands, query, key](Var output) {
    // The gradient of y is this rule's alone: it becomes that of the product where it stands.
    const Tensor d_y = output.grad();
    query.apply(d_y.data, TurnDirection::transposed);
    key.apply(d_y.data, TurnDirection::transposed);
    operands.differentiate(d_y);
    operands.sum_bias(output.tape(), d_y);
  });
}

}  // namespace tapeline::inline TAPELINE_PRECISION
