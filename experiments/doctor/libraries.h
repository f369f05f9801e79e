#pragma once

#include "experiments/doctor/finding.h"

namespace tapeline {

/// The libraries as they are loaded: versions, files, OpenBLAS's flavour, how many OpenMP runtimes there are.
Findings examine_libraries();

}  // namespace tapeline
