#pragma once

#include "core/index.h"

/// One source, two precisions. A target that depends on `Real` is compiled twice, once with TAPELINE_F64
/// defined, and everything it declares stands in `namespace tapeline::inline TAPELINE_PRECISION`. The two
/// sets of symbols differ in name, so both libraries can be linked into one program; a source file sees
/// exactly one of them.
#if defined(TAPELINE_F64)
#define TAPELINE_PRECISION f64
namespace tapeline::inline f64 {
using Real = double;
}
#else
#define TAPELINE_PRECISION f32
namespace tapeline::inline f32 {
using Real = float;
}
#endif
