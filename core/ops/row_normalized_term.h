#pragma once

#include "core/attention.h"
#include "core/kernels/attention.h"
#include "core/ops/term_sums.h"

/// What the attention op does for RowNormalizedBias: one of the overload sets of attention_terms.h.
namespace tapeline::inline TAPELINE_PRECISION {

TermInputs term_inputs(const RowNormalizedBias& term);
/// Throws ShapeError for operands that do not fit, and for distances without a numerator.
void check_term(const RowNormalizedBias& term, const AttentionProblem& problem);
RowNormalizedBiasView forward_view(const RowNormalizedBias& term, Arena& arena,
                                   const AttentionProblem& problem);
/// Throws ShapeError for a distance without a numerator that the kernel has met.
void check_faults(const RowNormalizedBiasView& view);
RowNormalizedBiasView backward_view(const RowNormalizedBias& term, Arena& arena,
                                    const AttentionProblem& problem);
void add_gradient(const RowNormalizedBias& term, const RowNormalizedBiasView& view);

}  // namespace tapeline::inline TAPELINE_PRECISION
