#pragma once

#include "core/key_mask.h"
#include "layers/model_config.h"

namespace tapeline {

/// Floating-point operations of these rows, forward, over the keys of all rows before them: the products of
/// linear layers and head, and attention's two products over the pairs that are seen.
double forward_flops(const ModelConfig& model, Index vocabulary, Index first, Index rows,
                     const KeyMask& mask);

}  // namespace tapeline
