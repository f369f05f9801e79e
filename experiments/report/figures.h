#pragma once

#include <vector>

#include "experiments/compare/comparison.h"
#include "experiments/compare/summary.h"
#include "experiments/report/figure.h"
#include "experiments/report/tables.h"

namespace tapeline {

/// Bits per byte against the length of the evaluated window, one curve a series, a mark at the trained
/// length.
Figure loss_by_length(const Comparison& comparison, const std::vector<Series>& all);

/// Bits per byte against the position in the longest window that each series was evaluated at.
Figure loss_by_position(const Comparison& comparison, const std::vector<Series>& all);
/// Its numbers.
ReportTable position_table(const Comparison& comparison, const std::vector<Series>& all);

}  // namespace tapeline
