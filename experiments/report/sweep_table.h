#pragma once

#include "experiments/compare/comparison.h"
#include "experiments/report/tables.h"

namespace tapeline {

/// What came of each learning rate that was tried first, variant by variant, and what trying cost. Without
/// rows where there was no sweep.
ReportTable sweep_table(const Comparison& comparison);

}  // namespace tapeline
