#include "core/ops/row_normalized_term.h"

#include "core/error.h"
#include "core/ops/operand_text.h"
#include "core/ops/seen_distances.h"

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

[[noreturn]] void fail_numerator(Index distance, Index first, Index span) {
  fail<ShapeError>(
      "attention: distance {} has no numerator; distances {} to {} have one; make the table longer", distance,
      first, first + span - 1);
}

/// The view without what is added to.
RowNormalizedBiasView plain_view(const RowNormalizedBias& term) {
  RowNormalizedBiasView view;
  view.numerator = term.numerator.value().data;
  view.span = term.numerator.shape()[0];
  view.first_distance = term.first_distance;
  view.denominator = term.denominator.value().data;
  view.cuts = term.cuts.value().data;
  view.slopes = term.slopes.value().data;
  view.intercepts = term.intercepts.value().data;
  view.segments = term.slopes.shape()[1];
  return view;
}

}  // namespace

TermInputs term_inputs(const RowNormalizedBias& term) {
  return {term.numerator, term.denominator, term.slopes, term.intercepts};
}

void check_term(const RowNormalizedBias& term, const AttentionProblem& problem) {
  require<ShapeError>(term.numerator && term.numerator.shape().rank() == 1 && term.numerator.shape()[0] >= 1,
                      "attention: the numerators are {}; expected [distances], at least one",
                      text(term.numerator));
  require<ShapeError>(term.denominator && term.denominator.shape() == Shape{problem.query_rows},
                      "attention: the denominators are {}, q has {} rows; expected [{}]",
                      text(term.denominator), problem.query_rows, problem.query_rows);
  const bool by_segment = term.slopes && term.slopes.shape().rank() == 2 && term.slopes.shape()[1] >= 1 &&
                          term.slopes.shape()[0] == problem.heads;
  require<ShapeError>(by_segment && term.intercepts && term.intercepts.shape() == term.slopes.shape(),
                      "attention: slopes are {}, intercepts {}, q has {} heads; expected [{}, segments] both",
                      text(term.slopes), text(term.intercepts), problem.heads, problem.heads);
  const Index cuts = term.slopes.shape()[1] - 1;
  require<ShapeError>(term.cuts && term.cuts.shape() == Shape{cuts},
                      "attention: the cuts are {}, slopes {}; expected [{}], one fewer than segments",
                      text(term.cuts), text(term.slopes), cuts);
  const Index first = term.first_distance, span = term.numerator.shape()[0];
  if (const auto missing = missing_distance(problem, {first, first + span - 1})) {
    fail_numerator(*missing, first, span);
  }
}

RowNormalizedBiasView forward_view(const RowNormalizedBias& term, Arena& arena, const AttentionProblem&) {
  RowNormalizedBiasView view = plain_view(term);
  view.faults = per_worker<DistanceFault>(arena, 1);
  return view;
}

void check_faults(const RowNormalizedBiasView& view) {
  if (const auto met = faulty_distance(view.faults)) fail_numerator(*met, view.first_distance, view.span);
}

RowNormalizedBiasView backward_view(const RowNormalizedBias& term, Arena& arena, const AttentionProblem&) {
  RowNormalizedBiasView view = plain_view(term);
  const auto sums = [&arena](Var input) {
    return input.needs_grad() ? per_worker<double>(arena, input.shape().size()) : nullptr;
  };
  view.d_numerator = sums(term.numerator);
  view.d_denominator = sums(term.denominator);
  view.d_slopes = sums(term.slopes);
  view.d_intercepts = sums(term.intercepts);
  return view;
}

void add_gradient(const RowNormalizedBias& term, const RowNormalizedBiasView& view) {
  add_worker_sums(term.numerator, view.d_numerator);
  add_worker_sums(term.denominator, view.d_denominator);
  add_worker_sums(term.slopes, view.d_slopes);
  add_worker_sums(term.intercepts, view.d_intercepts);
}

}  // namespace tapeline::inline TAPELINE_PRECISION
