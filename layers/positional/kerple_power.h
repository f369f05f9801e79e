#pragma once

#include "layers/positional/registry.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// KERPLE with the power kernel: KerplePositions (kerple.h) of KerpleForm::power.
const EncodingKind& kerple_power_kind();

}  // namespace tapeline::inline TAPELINE_PRECISION
