#pragma once

#include "layers/positional/projected_sinusoids.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// Transformer-XL's relative positions (Dai et al. 2019, 1901.02860): ProjectedSinusoids whose u, v and W_R
/// are one for all layers, positional/transformer_xl/<name>, unless per_layer (all three) or
/// projection_per_layer (W_R, as in the authors' code) asks for one a layer,
/// blocks/<i>/attention/positional/<name>.
const EncodingKind& transformer_xl_kind();

}  // namespace tapeline::inline TAPELINE_PRECISION
