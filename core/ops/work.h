#pragma once

#include "core/tape.h"

/// What the ops count with, to state their work.
namespace tapeline::inline TAPELINE_PRECISION {

/// The numbers of an operand; none of an absent one.
inline Index numbers(Var operand) { return operand ? operand.value().size() : 0; }

/// The numbers of its gradient; none where it is not wanted.
inline Index gradient_numbers(Var operand) {
  return operand && operand.needs_grad() ? operand.value().size() : 0;
}

}  // namespace tapeline::inline TAPELINE_PRECISION
