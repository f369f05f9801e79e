#include <algorithm>

#include "core/error.h"
#include "core/ops.h"
#include "core/ops/operand_text.h"
#include "core/parallel.h"

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

/// Numbers copied or added that are worth a thread of their own.
constexpr Index grain = Index{1} << 14;

/// Rows of `table` by index, under the shape `shape` [..., C]. The indices are copied: the caller's may be
/// gone when the gradient is taken.
template <class Number>
Var gather(std::string_view op, Var table, std::span<const Number> rows, const Shape& shape) {
  const OpScope watched(table.tape(), op);
  const Index height = table.shape()[0], width = table.shape()[1];
  const auto count = static_cast<Index>(rows.size());
  for (Index n = 0; n < count; ++n) {
    const Number row = rows[static_cast<std::size_t>(n)];
    require<ShapeError>(row >= 0 && row < height,
                        "{}: index {} at place {} is outside the table {}; expected 0 to {}", op, row, n,
                        table.shape().text(), height - 1);
  }
  auto* kept = table.tape().arena().template allocate_array<Number>(rows.size());
  std::copy(rows.begin(), rows.end(), kept);
  const Tensor out = table.tape().allocate(shape);
  const Real* from = table.value().data;
  parallel_for(count, std::max<Index>(1, grain / std::max<Index>(width, 1)), [&](Index begin, Index end) {
    for (Index n = begin; n < end; ++n) std::copy_n(from + kept[n] * width, width, out.data + n * width);
  });
  const OpWork work{.numbers = 2 * out.size(), .backward_numbers = 2 * out.size()};
  return table.tape().record(op, out, {table}, work, [=](Var output) {
    const Real* d_out = output.grad().data;
    Real* d_table = table.grad().data;
    // Threads share the columns, so that rows that come up again add up in order and without a race.
    parallel_for(width, std::max<Index>(16, grain / std::max<Index>(count, 1)), [&](Index begin, Index end) {
      for (Index n = 0; n < count; ++n) {
        Real* to = d_table + kept[n] * width;
        const Real* d = d_out + n * width;
        for (Index c = begin; c < end; ++c) to[c] += d[c];
      }
    });
  });
}

}  // namespace

Var embedding(Var table, std::span<const Token> ids, Index batch, Index time) {
  require<ShapeError>(table && table.shape().rank() == 2,
                      "embedding: the table is {}; expected [vocabulary, width]", text(table));
  require<ShapeError>(batch >= 0 && time >= 0 && static_cast<Index>(ids.size()) == batch * time,
                      "embedding: {} ids were given for a batch of {} by {}; expected {}", ids.size(), batch,
                      time, batch * time);
  return gather("embedding", table, ids, {batch, time, table.shape()[1]});
}

Var gather_rows(Var table, std::span<const Index> rows) {
  require<ShapeError>(table && table.shape().rank() == 2,
                      "gather_rows: the table is {}; expected [rows, width]", text(table));
  return gather("gather_rows", table, rows, {static_cast<Index>(rows.size()), table.shape()[1]});
}

}  // namespace tapeline::inline TAPELINE_PRECISION
