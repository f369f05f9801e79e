#pragma once

#include <string_view>

#include "core/attention.h"

/// The turning of one row, shared by rotate() and split_heads().
namespace tapeline::inline TAPELINE_PRECISION {

/// A rotation as plain numbers: what a kernel needs of it.
struct Turn {
  const Real* cosine = nullptr;  // [T, width / 2]
  const Real* sine = nullptr;
  Index width = 0;  // 0: nothing is turned
  Pairing pairing = Pairing::half;

  /// In the tables of `time` rows.
  Index numbers(Index time) const { return time * width; }
};

/// Checks a rotation against rows of `time` by `head_width` and takes it apart. The tables get no gradient.
/// Throws ShapeError naming `op`.
Turn turn_of(std::string_view op, const Rotation& rotation, Index time, Index head_width);

enum class TurnDirection { forward, transposed };

/// to = R from, or to += R from, for one row of `head_width` features that stands at place `row` of the
/// tables; R turns every pair (a, b) into (a cos - b sin, b cos + a sin), its transpose the other way;
/// features past the rotated width go through unchanged.
void turn_row(const Turn& turn, TurnDirection direction, bool accumulate, Index row, const Real* from,
              Real* to, Index head_width);

}  // namespace tapeline::inline TAPELINE_PRECISION
