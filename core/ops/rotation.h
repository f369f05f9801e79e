#pragma once

#include <string_view>

#include "core/attention.h"
#include "core/kernels/turn.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// Checks a rotation against rows of `time` by `head_width` and takes it apart. The tables get no gradient.
/// Throws ShapeError naming `op`.
Turn turn_of(std::string_view op, const Rotation& rotation, Index time, Index head_width);

}  // namespace tapeline::inline TAPELINE_PRECISION
