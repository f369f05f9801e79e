#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "layers/positional/wrappers.h"

namespace tapeline {

/// RoPE's scalings for a reader, one a row, with the keys that each looks at; none in a build without rope.
std::span<const WrapperKind> rope_scaling_rows();

}  // namespace tapeline
