#pragma once

#include <algorithm>
#include <string_view>
#include <variant>

#include "core/attention.h"
#include "core/error.h"
#include "core/kernels/attention.h"
#include "core/ops/operand_text.h"
#include "core/ops/relative_vectors_term.h"
#include "core/ops/row_normalized_term.h"
#include "core/ops/seen_distances.h"
#include "core/ops/term_sums.h"
#include "core/parallel.h"

/// What the attention op does for each score term: the Vars whose gradients it has, the check of its shape,
/// the view that the kernel gets, and the way of the gradient back. One overload set a term.
namespace tapeline::inline TAPELINE_PRECISION {

/// Numbers that the forward pass of a term leaves of each query row for its gradient.
template <class View>
constexpr Index kept_by_row() {
  if constexpr (requires { View::kept_by_row; }) return View::kept_by_row;
  return 0;
}
/// Where they stand.
template <class View>
void keep(View& view, Real* kept) {
  if constexpr (kept_by_row<View>() > 0) view.kept = kept;
}

// --- no term

inline TermInputs term_inputs(std::monostate) { return {}; }
inline void check_term(std::monostate, const AttentionProblem&) {}
inline std::monostate forward_view(std::monostate, Arena&, const AttentionProblem&) { return {}; }
inline void check_faults(std::monostate) {}
inline std::monostate backward_view(std::monostate, Arena&, const AttentionProblem&) { return {}; }
inline void add_gradient(std::monostate, std::monostate) {}

// --- LinearBias

inline TermInputs term_inputs(const LinearBias& term) { return {term.slopes}; }

inline void check_term(const LinearBias& term, const AttentionProblem& problem) {
  require<ShapeError>(term.slopes && term.slopes.shape() == Shape{problem.heads},
                      "attention: slopes are {}, q has {} heads; expected [{}]", text(term.slopes),
                      problem.heads, problem.heads);
}

inline LinearBiasView forward_view(const LinearBias& term, Arena&, const AttentionProblem&) {
  return {term.slopes.value().data, nullptr};
}

inline void check_faults(const LinearBiasView&) {}

inline LinearBiasView backward_view(const LinearBias& term, Arena& arena, const AttentionProblem& problem) {
  return {term.slopes.value().data,
          term.slopes.needs_grad() ? per_worker<double>(arena, problem.heads) : nullptr};
}

inline void add_gradient(const LinearBias& term, const LinearBiasView& view) {
  add_worker_sums(term.slopes, view.d_slopes);
}

// --- DistanceBias

inline TermInputs term_inputs(const DistanceBias& term) { return {term.table}; }

[[noreturn]] inline void fail_distance(Index distance, Index first, Index span) {
  fail<ShapeError>(
      "attention: distance {} is outside the bias table, which holds distances {} to {}; make the table "
      "longer",
      distance, first, first + span - 1);
}

inline void check_term(const DistanceBias& term, const AttentionProblem& problem) {
  require<ShapeError>(term.table && term.table.shape().rank() == 2 && term.table.shape()[0] == problem.heads,
                      "attention: the bias table is {}, q has {} heads; expected [{}, distances]",
                      text(term.table), problem.heads, problem.heads);
  const Index first = term.first_distance, span = term.table.shape()[1];
  if (const auto missing = missing_distance(problem, {first, first + span - 1})) {
    fail_distance(*missing, first, span);
  }
}

inline DistanceBiasView forward_view(const DistanceBias& term, Arena& arena, const AttentionProblem&) {
  return {term.table.value().data, term.table.shape()[1], term.first_distance, nullptr,
          per_worker<DistanceFault>(arena, 1)};
}

inline void check_faults(const DistanceBiasView& view) {
  if (const auto met = faulty_distance(view.faults)) fail_distance(*met, view.first_distance, view.span);
}

inline DistanceBiasView backward_view(const DistanceBias& term, Arena& arena,
                                      const AttentionProblem& problem) {
  return {
      term.table.value().data, term.table.shape()[1], term.first_distance,
      term.table.needs_grad() ? per_worker<double>(arena, problem.heads * term.table.shape()[1]) : nullptr,
      nullptr};  // no faults: the forward pass found none
}

inline void add_gradient(const DistanceBias& term, const DistanceBiasView& view) {
  add_worker_sums(term.table, view.d_table);
}

// --- ContextualPositions

inline TermInputs term_inputs(const ContextualPositions& term) { return {term.table}; }

inline void check_term(const ContextualPositions& term, const AttentionProblem& problem) {
  const bool fits = term.table && term.table.shape().rank() == 2 && term.table.shape()[0] >= 2 &&
                    term.table.shape()[1] == problem.width;
  require<ShapeError>(fits,
                      "attention: the table of contextual positions is {}, q has heads of width {}; expected "
                      "[2 rows or more, {}]",
                      text(term.table), problem.width, problem.width);
  require<ConfigError>(problem.mask.causal,
                       "attention: contextual positions (CoPE) are counted from the query backwards; they "
                       "need the causal mask");
  require<ConfigError>(problem.query_scale == nullptr,
                       "attention: contextual positions (CoPE) and a query scale; the positions are counted "
                       "with gates of the score, which the scale would change; use one of the two");
  require<ConfigError>(problem.scale > 0,
                       "attention: the score scale is {}; contextual positions need one above 0",
                       problem.scale);
}

inline ContextualPositionsView forward_view(const ContextualPositions& term, Arena&,
                                            const AttentionProblem&) {
  const Tensor table = term.table.value();
  return {.table = table.data, .rows = table.shape[0], .width = table.shape[1], .scaled = term.scaled};
}

inline void check_faults(const ContextualPositionsView&) {}

inline ContextualPositionsView backward_view(const ContextualPositions& term, Arena& arena,
                                             const AttentionProblem& problem) {
  ContextualPositionsView view = forward_view(term, arena, problem);
  view.differentiates = true;
  if (term.table.needs_grad()) view.d_table = per_worker<double>(arena, view.rows * view.width);
  return view;
}

inline void add_gradient(const ContextualPositions& term, const ContextualPositionsView& view) {
  add_worker_sums(term.table, view.d_table);
}

/// Those of any term.
inline TermInputs learned_inputs(const ScoreTerm& any) {
  return std::visit([](const auto& term) { return term_inputs(term); }, any);
}

}  // namespace tapeline::inline TAPELINE_PRECISION
