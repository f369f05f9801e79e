#pragma once

#include <vector>

#include "experiments/compare/comparison.h"
#include "experiments/compare/summary.h"
#include "experiments/report/figure.h"
#include "experiments/report/tables.h"

namespace tapeline {

// What the probes say of the use of longer context. Each figure has no curves and each table no rows where
// its probe was not run.

/// Longer windows with all keys, and with the last L keys alone, a small chart a series.
Figure hard_window_figure(const Comparison& comparison, const std::vector<Series>& all);
/// What the limit costs, in bits a byte: paired by seed.
ReportTable hard_window_table(const Comparison& comparison, const std::vector<Series>& all);

/// The loss of fixed targets by the number of tokens before them, in the longest windows probed of each
/// series.
Figure history_figure(const Comparison& comparison, const std::vector<Series>& all);
/// The effective context by length of the window, in tokens.
ReportTable effective_context_table(const Comparison& comparison, const std::vector<Series>& all);

/// How much worse the loss of fixed targets gets when the history farther than w tokens stands in random
/// order, by w, in the longest windows probed of each series.
Figure shuffle_figure(const Comparison& comparison, const std::vector<Series>& all);

/// The loss late in the window minus the loss early in it, by length.
ReportTable in_context_table(const Comparison& comparison, const std::vector<Series>& all);

}  // namespace tapeline
