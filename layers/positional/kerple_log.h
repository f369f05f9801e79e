#pragma once

#include "layers/positional/registry.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// KERPLE with the logarithmic kernel: KerplePositions (kerple.h) of KerpleForm::logarithm.
const EncodingKind& kerple_log_kind();

}  // namespace tapeline::inline TAPELINE_PRECISION
