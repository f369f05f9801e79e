#pragma once

#include "core/kernels/head_rows.h"
#include "core/pairing.h"
#include "core/real.h"

/// Rotation of heads, and their way from one place to another, on plain memory; parallel inside.
namespace tapeline::inline TAPELINE_PRECISION {

/// A rotation as plain numbers. Every pair (a, b) of a row becomes (a cos - b sin, b cos + a sin), features
/// past the rotated width go through unchanged.
struct Turn {
  const Real* cosine = nullptr;  // [T, width / 2]
  const Real* sine = nullptr;
  Index width = 0;  // 0: nothing is turned
  Pairing pairing = Pairing::half;

  /// In the tables of `time` rows.
  Index numbers(Index time) const { return time * width; }
};

enum class TurnDirection { forward, transposed };

/// `heads` heads of `time` rows of `width` numbers in each of `batch` sequences, read from one place and
/// written, or with `accumulate` added, to another.
struct TurnedHeads {
  Turn turn;
  TurnDirection direction = TurnDirection::forward;
  bool accumulate = false;
  Index batch = 0, time = 0, heads = 0, width = 0;
  const Real* from = nullptr;
  HeadRows from_rows;
  Real* to = nullptr;
  HeadRows to_rows;
};

void turn_heads(const TurnedHeads& work);

}  // namespace tapeline::inline TAPELINE_PRECISION
