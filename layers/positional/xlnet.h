#pragma once

#include "layers/positional/projected_sinusoids.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// XLNet's relative positions (Yang et al. 2019, 1906.08237): ProjectedSinusoids whose u, v and W_R are one a
/// layer, blocks/<i>/attention/positional/<name>.
const EncodingKind& xlnet_kind();

}  // namespace tapeline::inline TAPELINE_PRECISION
