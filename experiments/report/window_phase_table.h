#pragma once

#include <vector>

#include "experiments/compare/comparison.h"
#include "experiments/compare/summary.h"
#include "experiments/report/tables.h"

namespace tapeline {

/// How the loss in windows side by side changes when they are cut half a window earlier, by length, in bits a
/// byte (a token, where tokens are no bytes), and where that is beyond what other text would make. No rows
/// where the probe was not run.
ReportTable window_phase_table(const Comparison& comparison, const std::vector<Series>& all);

}  // namespace tapeline
