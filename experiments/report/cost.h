#pragma once

#include <vector>

#include "experiments/compare/comparison.h"
#include "experiments/compare/summary.h"
#include "experiments/report/tables.h"

namespace tapeline {

/// What training one model of each variant took, over seeds: parameters, floating-point operations, speed,
/// time.
ReportTable training_cost_table(const Comparison& comparison);

/// Input tokens a second that each series was evaluated at, non-overlapping windows by length.
ReportTable evaluation_speed_table(const Comparison& comparison, const std::vector<Series>& all);

/// What each cell was trained to, and how fast.
ReportTable training_table(const Comparison& comparison);

}  // namespace tapeline
