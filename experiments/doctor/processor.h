#pragma once

#include "experiments/doctor/finding.h"

namespace tapeline {

/// Cores that this process can keep busy: those it may run on, less what a quota takes away, rounded up.
int usable_cores();

/// Instruction set and the vector code chosen for it, cores, threads, and the measured speed of the
/// matrix product against an estimate of what the cores could do. Sets the thread count to at most the cores.
Findings examine_processor();

}  // namespace tapeline
