#pragma once

#include <variant>

#include "core/dropout.h"
#include "core/kernels/head_rows.h"
#include "core/kernels/score_terms/contextual_positions.h"
#include "core/kernels/score_terms/distance_bias.h"
#include "core/kernels/score_terms/linear_bias.h"
#include "core/kernels/score_terms/relative_vectors.h"
#include "core/kernels/score_terms/row_normalized_bias.h"
#include "core/key_mask.h"
#include "core/positions.h"
#include "core/real.h"

/// Streaming softmax attention on plain memory. What a score term needs is handed over as a view: numbers and
/// sizes, never a place on the tape. A term is one header in core/kernels/score_terms/ and one alternative of
/// TermView.
namespace tapeline::inline TAPELINE_PRECISION {

using TermView = std::variant<std::monostate, LinearBiasView, DistanceBiasView, RowNormalizedBiasView,
                              RelativeVectorsView, ContextualPositionsView>;

/// Rows of a query tile and keys of a key tile.
inline constexpr Index attention_tile_rows = 64;
inline constexpr Index attention_tile_keys = 64;

/// The operands of one attention, forward or backward.
struct AttentionProblem {
  Index batch = 0, heads = 0, key_heads = 0;  // key_heads divides heads
  Index query_rows = 0, key_rows = 0;         // last rows aligned
  Index width = 0;
  const Real* q = nullptr;             // B, H, Tq rows of D
  const Real* k = nullptr;             // B, Hkv, Tk rows of D
  const Real* v = nullptr;             // likewise
  HeadRows query, key, value, output;  // where they stand; the gradient of an operand stands like the operand
  Real scale = 1;
  const Real* query_scale = nullptr;  // [Tq], or [H, Tq] with query_scale_stride = Tq; null: 1
  Index query_scale_stride = 0;
  KeyMask mask;
  PassPositions positions;
  Dropout dropout;
  TermView term;

  Index tiles() const { return (query_rows + attention_tile_rows - 1) / attention_tile_rows; }
  /// The distance of query row 0 and key row 0.
  Index first_distance() const { return key_rows - query_rows; }
  /// The number of a query row in its sequence, and that of a key row: a windowed cache holds the sinks, then
  /// the last rows, and what it has dropped lies between.
  Index query_number(Index query_row) const { return positions.query.begin + query_row; }
  Index key_number(Index key_row) const {
    if (mask.window > 0 && key_row < mask.sinks) return positions.key.begin + key_row;
    return positions.query.begin - first_distance() + key_row;
  }
  /// How many keys a query row sees.
  Index keys_seen(Index query_row) const { return mask.keys_seen(first_distance() + query_row, key_rows); }
};

/// What attention_forward writes. A row that sees no key has output 0 and log_sum +infinity, so that the
/// backward pass computes exp(score - log_sum) = 0 there without asking.
struct AttentionResult {
  Real* out = nullptr;      // B, H, Tq rows of D, as problem.output says
  Real* log_sum = nullptr;  // [B, H, Tq]; null: not wanted
  double* probe = nullptr;  // [workers, H, attention_probe_sums], added to; null: not wanted
  Index probe_sinks = 0;
  Real* kept = nullptr;  // what the term leaves of the rows for its gradient, null: nothing
};

/// The sums of a probe, a head: entropy, normalised entropy, weight on the sinks, distance, normalised
/// distance.
inline constexpr Index attention_probe_sums = 5;

/// What attention_backward reads and writes. A null gradient is not wanted.
struct AttentionGradients {
  const Real* out = nullptr;
  const Real* log_sum = nullptr;
  const Real* d_out = nullptr;
  Real *d_q = nullptr, *d_k = nullptr, *d_v = nullptr;
  bool add_q = false, add_k = false, add_v = false;  // add to what is there; else it is overwritten unread
  Real* d_query_scale = nullptr;                     // [B, H, Tq], overwritten: one number a row
};

/// Numbers of scratch that each worker needs.
Index attention_forward_workspace(const AttentionProblem& problem);
Index attention_backward_workspace(const AttentionProblem& problem);
/// Numbers of scratch for the parts of d_k and d_v that several workers sum for one key head; may be 0.
Index attention_backward_partials(const AttentionProblem& problem);

/// `workspace`: thread_count() times the workspace, aligned to 64 bytes.
void attention_forward(const AttentionProblem& problem, const AttentionResult& result, Real* workspace);
void attention_backward(const AttentionProblem& problem, const AttentionGradients& gradients, Real* workspace,
                        Real* partials);

}  // namespace tapeline::inline TAPELINE_PRECISION
