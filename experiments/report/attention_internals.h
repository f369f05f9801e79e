#pragma once

#include <vector>

#include "experiments/compare/comparison.h"
#include "experiments/compare/summary.h"
#include "experiments/report/figure.h"
#include "experiments/report/tables.h"

namespace tapeline {

/// How evenly attention spreads over the keys it sees, 0 (one key) to 1 (all alike), against the length of
/// the window; means over layers, heads and seeds. Without curves where it was not measured, as the others.
Figure attention_entropy_figure(const Comparison& comparison, const std::vector<Series>& all);
/// How many tokens back attention looks on average, against the length.
Figure attention_distance_figure(const Comparison& comparison, const std::vector<Series>& all);

/// Normalised entropy, mean distance and the share on the first keys, by series and length. Without rows
/// where nothing was measured.
ReportTable attention_table(const Comparison& comparison, const std::vector<Series>& all);
/// One of the three, layer by layer, with the lowest and highest head.
std::vector<ReportTable> attention_layer_tables(const Comparison& comparison, const std::vector<Series>& all);

}  // namespace tapeline
