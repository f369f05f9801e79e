#pragma once

#include "core/attention.h"
#include "core/kernels/attention.h"
#include "core/ops/term_sums.h"

/// What the attention op does for RelativeVectors; see core/ops/attention_terms.h.
namespace tapeline::inline TAPELINE_PRECISION {

inline TermInputs term_inputs(const RelativeVectors& term) {
  return {term.query_vectors, term.key_vectors, term.u, term.v};
}

/// Throws ShapeError for tables and indices that do not fit, and for a distance outside them that the sizes
/// already show.
void check_term(const RelativeVectors& term, const AttentionProblem& problem);

RelativeVectorsView forward_view(const RelativeVectors& term, Arena& arena, const AttentionProblem& problem);
RelativeVectorsView backward_view(const RelativeVectors& term, Arena& arena, const AttentionProblem& problem);

/// Throws ShapeError where the kernel, given explicit positions, has met a distance outside the tables.
void check_faults(const RelativeVectorsView& view);

void add_gradient(const RelativeVectors& term, const RelativeVectorsView& view);

}  // namespace tapeline::inline TAPELINE_PRECISION
