#pragma once

#include "experiments/report/tables.h"

namespace tapeline {

/// Perplexity per byte at each length over that at the trained length: the geometric mean over seeds with the
/// 95 % t-interval of the logarithm, "1.650 (1.600 to 1.710)". Without rows where no other length was
/// evaluated.
ReportTable ratio_table(const Comparison& comparison, const std::vector<Series>& all);

/// The same where the interval of the logarithm is longer than widely_scattered to either side. Median,
/// lowest and highest seed: "1.640 (1.210 to 3.400)". Without rows where there is no such ratio.
ReportTable ratio_spread_table(const Comparison& comparison, const std::vector<Series>& all);

}  // namespace tapeline
