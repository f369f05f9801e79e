#pragma once

#include <string>

#include "core/tape.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// An operand in the message of an error: its shape, or "absent".
inline std::string text(Var operand) { return operand ? operand.shape().text() : "absent"; }

}  // namespace tapeline::inline TAPELINE_PRECISION
