#pragma once

#include <optional>
#include <vector>

#include "experiments/compare/comparison.h"
#include "experiments/compare/summary.h"
#include "experiments/report/figure.h"
#include "experiments/report/tables.h"

namespace tapeline {

/// What targets without history cost in non-overlapping windows of the trained length L, in nats a token:
/// g = NLL(L) - s, with s the loss at L with full history (sliding, stride 1), both on the sliding subset.
/// Nothing where one of the two was not measured. `results` are those of one model under one evaluation.
std::optional<double> early_token_gap(const std::vector<EvaluationResult>& results, Index trained_length);

/// g, and the curse-only residual at every longer length (curse_only_residual()), over seeds. Without rows
/// when no series has g.
ReportTable early_token_table(const Comparison& comparison, const std::vector<Series>& all);

/// Non-overlapping windows and sliding ones over the same targets against length, a small chart a series.
/// Where several strides were run at a length it is the smallest. Without curves when sliding was not asked
/// for.
Figure early_token_figure(const Comparison& comparison, const std::vector<Series>& all);

}  // namespace tapeline
