#pragma once

#include <cstdint>
#include <string_view>

#include "core/tensor.h"
#include "data/token_store.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// Numbers between -1/2 and 1/2, of a stream of that name. Throws MemoryError.
Storage made_up_numbers(const Shape& shape, std::string_view name);

/// What a made-up text takes while it is made.
double made_up_text_bytes(Index tokens);
/// Bytes at random, all of them tokens of the vocabulary.
TokenStore made_up_text(Index tokens, Index vocabulary, std::uint64_t seed);

}  // namespace tapeline::inline TAPELINE_PRECISION
