#pragma once

#include "layers/positional/projected_sinusoids.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// Transformer-XL's relative positions (Dai et al. 2019, 1901.02860): ProjectedSinusoids whose u and v are
/// one for all layers, positional/transformer_xl/<name>, and whose W_R is one a layer, as in the authors'
/// code, blocks/<i>/attention/positional/<name>. per_layer: all three one a layer; projection_per_layer =
/// false: W_R too one for all.
const EncodingKind& transformer_xl_kind();

}  // namespace tapeline::inline TAPELINE_PRECISION
