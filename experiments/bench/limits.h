#pragma once

#include <string_view>

#include "layers/transformer.h"

namespace tapeline {

/// Throws ConfigError, with both numbers, where `what` ("bench attention: length 65536") would take more than
/// four fifths of this machine's memory: refused before it is tried.
void require_room(std::string_view what, double bytes);

}  // namespace tapeline

namespace tapeline::inline TAPELINE_PRECISION {

/// Throws ConfigError, with both numbers, where the encoding of the model refuses sequences of that length.
void require_length(const Transformer& model, std::string_view what, Index length);

}  // namespace tapeline::inline TAPELINE_PRECISION
