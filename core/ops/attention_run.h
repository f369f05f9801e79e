#pragma once

#include "core/attention.h"
#include "core/kernels/attention.h"
#include "core/ops/attention_terms.h"

/// What every attention op does around the kernel, whichever way its operands stand.
namespace tapeline::inline TAPELINE_PRECISION {

/// Fills in what terms and dropout say, and checks it; the sizes are already there. Throws ShapeError,
/// ConfigError.
void describe(AttentionProblem& problem, const ScoreTerms& terms, const Dropout& dropout);

/// Which gradients an op wants.
struct WantedGradients {
  bool query = false, key = false, value = false;
};
/// Two products over the pairs that are seen, scores and output; backward the scores again, the gradient of
/// the weights, and one for each of query, key and value that wants one. What a score term computes for
/// itself is not counted: one number for all encodings. Nothing where nobody watches: the pairs are counted
/// row by row.
OpWork attention_work(const Tape& tape, const AttentionProblem& problem, const WantedGradients& wanted);

/// Output and log-sum-exp (null unless wanted), which live as long as the tape; scratch is given back.
AttentionResult run_attention(Tape& tape, AttentionProblem& problem, const ScoreTerm& score_term,
                              bool want_log_sum, AttentionProbe* probe);

/// Takes the gradients d_q, d_k, d_v that are given a place, from d_out, and those of the query scale and the
/// term where they want one.
void differentiate_attention(Arena& arena, AttentionProblem problem, const ScoreTerm& score_term,
                             Var query_scale, const AttentionResult& result, const Real* d_out,
                             AttentionGradients gradients);

}  // namespace tapeline::inline TAPELINE_PRECISION
