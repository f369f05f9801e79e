#include <algorithm>
#include <array>

#include "core/error.h"
#include "core/ops.h"
#include "core/ops/head_columns.h"
#include "core/ops/operand_text.h"

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

/// The gradient of x, written once by the three rules of its parts, each its own columns. Their nodes follow
/// one another, so no other rule runs in between; the node recorded before them runs after them.
struct SplitGradient {
  GradientTarget target;
  std::array<bool, 3> written{};
};

/// Turned by nothing.
void move_heads(const HeadColumns& of, bool accumulate, const Real* from, const HeadRows& from_rows, Real* to,
                const HeadRows& to_rows) {
  turn_heads({.turn = {},
              .accumulate = accumulate,
              .batch = of.batch,
              .time = of.time,
              .heads = of.heads,
              .width = of.width,
              .from = from,
              .from_rows = from_rows,
              .to = to,
              .to_rows = to_rows});
}

}  // namespace

std::array<HeadColumns, 3> joint_columns(std::string_view op, const Shape& shape, Index heads,
                                         Index key_value_heads) {
  require<ShapeError>(shape.rank() == 3, "{}: the joint rows are {}; expected [batch, time, width]", op,
                      shape.text());
  require<ShapeError>(heads >= 1 && key_value_heads >= 1 && heads % key_value_heads == 0,
                      "{}: {} heads and {} key/value heads; the second must divide the first", op, heads,
                      key_value_heads);
  const Index all_heads = heads + 2 * key_value_heads;
  require<ShapeError>(
      shape.last() % all_heads == 0,
      "{}: the joint rows are {} for {} heads and {} key/value heads; the width must be a multiple of "
      "{}",
      op, shape.text(), heads, key_value_heads, all_heads);
  const Index batch = shape[0], time = shape[1], width = shape.last() / all_heads;
  return {HeadColumns{batch, time, shape.last(), 0, heads, width},
          HeadColumns{batch, time, shape.last(), heads * width, key_value_heads, width},
          HeadColumns{batch, time, shape.last(), (heads + key_value_heads) * width, key_value_heads, width}};
}

void cut(const HeadColumns& columns, bool accumulate, const Real* rows, Real* heads) {
  move_heads(columns, accumulate, rows + columns.first, columns.in_rows(), heads, columns.in_heads());
}

void join(const HeadColumns& columns, bool accumulate, const Real* heads, Real* rows) {
  move_heads(columns, accumulate, heads, columns.in_heads(), rows + columns.first, columns.in_rows());
}

HeadsSplit split_heads(Var x, Index heads, Index key_value_heads) {
  require<ShapeError>(static_cast<bool>(x), "split_heads: x is absent");
  const std::array<HeadColumns, 3> parts = joint_columns("split_heads", x.shape(), heads, key_value_heads);
  Tape& tape = x.tape();
  const OpScope watched(tape, "split_heads");
  auto* gradient = new (tape.arena().allocate(sizeof(SplitGradient))) SplitGradient{};
  const Var whole = tape.record("split_heads", tape.allocate({}), {x}, [=](Var) {
    for (std::size_t p = 0; p < parts.size(); ++p) {
      if (gradient->written[p] || gradient->target.beta != 0) continue;
      const HeadColumns& part = parts[p];
      for (Index row = 0; row < part.batch * part.time; ++row) {
        std::fill_n(gradient->target.tensor.data + row * part.row_width + part.first, part.heads * part.width,
                    Real{0});
      }
    }
  });
  const auto part = [&](std::size_t p) {
    const HeadColumns columns = parts[p];
    const Tensor out = tape.allocate(columns.shape());
    cut(columns, false, x.value().data, out.data);
    const OpWork work{.numbers = 2 * out.size(), .backward_numbers = 2 * out.size()};
    return tape.record("split_heads", out, {whole}, work, [=](Var output) {
      if (gradient->target.tensor.data == nullptr) {
        gradient->target = x.grad_target();
        whole.grad();  // so that its rule runs
      }
      join(columns, gradient->target.beta != 0, output.grad().data, gradient->target.tensor.data);
      gradient->written[p] = true;
    });
  };
  const Var query = part(0);
  const Var key = part(1);
  return {query, key, part(2)};
}

Var merge_heads(Var x) {
  require<ShapeError>(x && x.shape().rank() == 4,
                      "merge_heads: x is {}; expected [batch, heads, time, head width]", text(x));
  const Index batch = x.shape()[0], heads = x.shape()[1], time = x.shape()[2], width = x.shape()[3];
  const OpScope watched(x.tape(), "merge_heads");
  const HeadColumns columns{batch, time, heads * width, 0, heads, width};
  const Tensor out = x.tape().allocate({batch, time, heads * width});
  join(columns, false, x.value().data, out.data);
  const OpWork work{.numbers = 2 * out.size(), .backward_numbers = 2 * out.size()};
  return x.tape().record("merge_heads", out, {x}, work, [=](Var output) {
    const GradientTarget target = x.grad_target();
    cut(columns, target.beta != 0, output.grad().data, target.tensor.data);
  });
}

}  // namespace tapeline::inline TAPELINE_PRECISION
