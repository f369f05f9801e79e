#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/compare/comparison.h"
#include "experiments/compare/summary.h"

namespace tapeline {

/// A number that a probe's figures have, or none.
using ProbeNumber = std::function<std::optional<double>(const ProbeResult&)>;

/// The mean of a quantity over all its figures: of attention, over layers and heads alike. A layer >= 0: over
/// the heads of that layer.
ProbeNumber mean_of(std::string quantity, Index layer = -1);
/// A quantity at one span: history or tokens kept in order.
ProbeNumber at_span(std::string quantity, Index span);

/// Whether `probe` was asked of any model.
bool was_probed(const Comparison& comparison, std::string_view probe);
/// The lengths of its windows, ascending.
std::vector<Index> probe_lengths(const Comparison& comparison, std::string_view probe);
/// What a probe found of each seed of a series at one length, in the order of the cells.
std::vector<const ProbeResult*> probe_results(const Comparison& comparison, const Series& series,
                                              std::string_view probe, Index length);
/// The spans that a quantity was measured at, ascending.
std::vector<Index> probe_spans(const std::vector<const ProbeResult*>& results, std::string_view quantity);

/// How many targets, of attention rows, a quantity is a mean over in one model: "256", or "200 to 256" where
/// that is not the same at all lengths; "0" where nothing was measured.
std::string probe_count_text(const Comparison& comparison, std::string_view probe, std::string_view quantity);

/// A number over the seeds that have it.
Estimate over_seeds(const std::vector<const ProbeResult*>& results, const ProbeNumber& number);
/// "0.612 ±0.014"; "n/a" where the encoding has no such length, "diverged", "–" for what was not measured.
std::string probe_text(const std::vector<const ProbeResult*>& results, const ProbeNumber& number, int digits);

}  // namespace tapeline
