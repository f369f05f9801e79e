#pragma once

#include "core/index.h"

namespace tapeline {

/// Where the rows of D numbers of an operand stand: how far apart sequences, heads and rows are.
struct HeadRows {
  Index sequence = 0, head = 0, row = 0;
  Index at(Index b, Index h, Index r = 0) const { return b * sequence + h * head + r * row; }

  /// [B, H, T, D] without gaps.
  static HeadRows by_head(Index heads, Index rows, Index width) {
    return {heads * rows * width, rows * width, width};
  }
  /// H D columns of a tensor [B, T, row_width].
  static HeadRows by_row(Index rows, Index row_width, Index width) {
    return {rows * row_width, width, row_width};
  }
};

}  // namespace tapeline
