#pragma once

#include <array>
#include <string_view>

#include "core/ops/rotation.h"

/// Heads as columns of rows [B, T, W], and as tensors of their own [B, H, T, D].
namespace tapeline::inline TAPELINE_PRECISION {

/// Some heads of a row [.., W]: `heads` of `width` numbers each from column `first` on.
struct HeadColumns {
  Index batch = 0, time = 0, row_width = 0;
  Index first = 0, heads = 0, width = 0;

  Shape shape() const { return {batch, heads, time, width}; }
  /// Where they stand in [B, T, W], from their first column on, and in [B, H, T, D].
  HeadRows in_rows() const { return HeadRows::by_row(time, row_width, width); }
  HeadRows in_heads() const { return HeadRows::by_head(heads, time, width); }
};

/// The query, key and value heads of joint rows x [B, T, (H + 2 Hkv) D]. Throws ShapeError naming `op` and
/// the shape.
std::array<HeadColumns, 3> joint_columns(std::string_view op, const Shape& shape, Index heads,
                                         Index key_value_heads);

/// [B, T, W] -> [B, H, T, D]; `accumulate`: added to what is there.
void cut(const HeadColumns& columns, bool accumulate, const Real* rows, Real* heads);
/// [B, H, T, D] -> its columns of [B, T, W].
void join(const HeadColumns& columns, bool accumulate, const Real* heads, Real* rows);

}  // namespace tapeline::inline TAPELINE_PRECISION
