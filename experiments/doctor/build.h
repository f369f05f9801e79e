#pragma once

#include "experiments/doctor/finding.h"

namespace tapeline {

/// This program: its version, how it was built, the positional encodings compiled in.
Findings examine_build();

}  // namespace tapeline
