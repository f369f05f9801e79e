#pragma once

#include <cstddef>
#include <cstdint>

namespace tapeline {

/// Counts, extents, positions and differences of them. Signed, so that distances can be negative.
using Index = std::int64_t;

/// A symbol of the vocabulary.
using Token = std::int32_t;

}  // namespace tapeline
