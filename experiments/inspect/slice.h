#pragma once

#include <string>
#include <vector>

#include "data/slab.h"

namespace tapeline {

/// What "0:4,10:20" selects of a tensor, as numpy reads it: one part an axis, begin:end:step or one index,
/// each end may be left out, negative ones count from the end, ranges are cut to the tensor, axes not named
/// are whole. Steps are positive. Throws ConfigError, naming the tensor as `name`.
Slab parse_slice(const std::string& text, const std::vector<Index>& extents, const std::string& name);

}  // namespace tapeline
