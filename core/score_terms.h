#pragma once

#include <span>
#include <type_traits>
#include <variant>

#include "core/key_mask.h"
#include "core/positions.h"
#include "core/tape.h"

/// What changes the scores of attention(). Letters: H heads, D head width, d = position of the query -
/// position of the key.
namespace tapeline::inline TAPELINE_PRECISION {

/// b_h(d) = -slope_h * |d| (ALiBi). slopes [H]; a gradient is given when wanted.
struct LinearBias {
  Var slopes;
};

/// b_h(d) = table[h, d - first_distance]: any bias of head and distance. table [H, span]; its gradient is
/// G_h(d) = sum of dS over the pairs at distance d. Every distance of the pass must lie in the table.
struct DistanceBias {
  Var table;
  Index first_distance = 0;
};

/// g_h(i, j) = slopes[h, s] x + intercepts[h, s], x = numerator[d - first_distance] / denominator[i], s the
/// number of cuts <= x: a function of the distance normalised by row, piecewise linear, as a network of one
/// hidden layer of rectified units is (FIRE, Li et al. 2023, 2310.04418). Gradients are given where wanted.
/// Every distance of the pass must have a numerator.
struct RowNormalizedBias {
  Var numerator;             ///< [span]: ln(|kappa d| + 1); may be negative in general
  Index first_distance = 0;  ///< of numerator[0]; may be negative
  Var denominator;           ///< [Tq], positive: one number a query row
  Var cuts;                  ///< [segments - 1], ascending: the function should be continuous there
  Var slopes, intercepts;    ///< [H, segments]
};

/// The terms of vectors that belong to distances, inside the score scale (and query_scale):
///   u_h . k_j + (q_i + v_h) . r_h(d) + k_j . p_h(d)
/// Transformer-XL and XLNet (r, u, v; Dai et al. 2019, 1901.02860), Shaw (r; Shaw et al. 2018, 1803.02155),
/// DeBERTa (r, p; He et al. 2021, 2006.03654). Row index[d - first_distance] of a table belongs to distance
/// d; without an index, row d - first_distance. Queries and keys have an index each: DeBERTa's paper reads p
/// at -d, its code at d. Every distance of the pass must lie in the tables. Either end of an index may repeat
/// one row as long as it likes: tiles that meet no other row cost little.
struct RelativeVectors {
  /// r: [H, rows, D]; or [1, rows, D], one table for all heads; or [rows, H D], the heads side by side, as a
  /// product leaves them. Absent: no such term.
  Var query_vectors;
  Var key_vectors;                          ///< p: likewise, over the same distances
  std::span<const Index> query_index = {};  ///< [span]; must live as long as the tape
  std::span<const Index> key_index = {};    ///< [span]; likewise
  Index first_distance = 0;                 ///< may be negative
  Var u, v;                                 ///< [H, D]; absent: 0. v needs r
};

/// Positions counted by content (CoPE, Golovneva et al. 2024, 2405.18719): with c the score scale,
///   g_it = sigmoid(c q_i . k_t) where i sees t, else 0,  p_ij = min(g_ij + ... + g_ii, N - 1),
/// and q_i . e[p_ij], read between the two nearest rows of the table, is added to q_i . k_j. Rows are
/// counted, so explicit positions change nothing. Needs the causal mask, and no query scale: it would change
/// the gates.
struct ContextualPositions {
  Var table;  ///< e [N, D], N at least 2, shared by the heads
  bool scaled =
      true;  ///< the added product is multiplied by c like q_i . k_j; false: added to the scaled score
};

/// What is added to a score, at most one; each has one header in core/kernels/score_terms/.
using ScoreTerm = std::variant<std::monostate, LinearBias, DistanceBias, RowNormalizedBias, RelativeVectors,
                               ContextualPositions>;

/// Everything that changes the score of query i and key j in head h:
///   score = scale * query_scale(i, h) * (q_i . k_j) + what `term` adds
/// and the mask.
struct ScoreTerms {
  Real scale = 1;
  Var query_scale;  ///< [Tq] or [H, Tq]; absent: 1
  KeyMask mask;
  PassPositions positions;
  ScoreTerm term;
};
static_assert(std::is_trivially_destructible_v<ScoreTerms>);

}  // namespace tapeline::inline TAPELINE_PRECISION
