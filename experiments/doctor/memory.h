#pragma once

#include "experiments/doctor/finding.h"

namespace tapeline {

/// The memory of the machine, what is free of it, and what a control group or ulimit leaves.
Finding examine_memory();

}  // namespace tapeline
