#pragma once

#include "experiments/doctor/finding.h"

namespace tapeline {

/// The programs that are run beside this one: gnuplot for figures, bible for the corpus kjv.
Findings examine_programs();

}  // namespace tapeline
