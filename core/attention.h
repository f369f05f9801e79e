#pragma once

#include <array>
#include <span>
#include <variant>

#include "core/key_mask.h"
#include "core/random.h"
#include "core/tape.h"

namespace tapeline {

/// The positions of the rows of one pass.
struct Positions {
  Index begin = 0;                               ///< number of the first row in its sequence, always
  Index count = 0;                               ///< how many rows
  std::array<std::span<const Index>, 3> axis{};  ///< empty: position = row number; two or three axes: grids

  /// The position of row `row` of this pass along `a`.
  Index at(Index row, std::size_t a = 0) const {
    return axis[a].empty() ? begin + row : axis[a][static_cast<std::size_t>(row)];
  }
};

/// The positions of the query rows and of all key rows (cached ones included); last rows aligned.
struct PassPositions {
  Positions query, key;
};

/// Dropout by counter: whether an element is dropped depends on (key, sequence, place), never on tiles,
/// threads or the cut into micro-batches.
struct Dropout {
  double rate = 0;           ///< 0 <= rate <= 1; survivors are divided by 1 - rate; rate 1 gives zeros
  RandomKey key{};           ///< of seed, step and layer
  Index first_sequence = 0;  ///< number of the batch's first sequence within the step
};

/// Which features form a pair of the rotation: neighbours (2p, 2p+1), or halves (p, p + width/2).
enum class Pairing { half, interleaved };

}  // namespace tapeline

namespace tapeline::inline TAPELINE_PRECISION {

/// Rotation of the first `width` features of every head, pair p of row t by the angle whose cosine and sine
/// stand in the tables [rows, width/2] (times a magnitude, where an encoding scales as well). Without tables:
/// none.
struct Rotation {
  Var cosine, sine;
  Index width = 0;
  Pairing pairing = Pairing::half;
  explicit operator bool() const { return static_cast<bool>(cosine); }
};

/// b_h(d) = -slope_h * |d|, d = query position - key position (ALiBi). slopes [H]; a gradient is given when
/// wanted.
struct LinearBias {
  Var slopes;
};

/// b_h(d) = table[h, d - first_distance]: any bias of head and distance. table [H, span]; its gradient is
/// G_h(d) = sum of dS over the pairs at distance d. Every distance of the pass must lie in the table.
struct DistanceBias {
  Var table;
  Index first_distance = 0;
};

/// Everything that changes the score of query i and key j in head h:
///   score = scale * query_scale(i, h) * (q_i . k_j) + bias of `term`
/// and the mask. A term is at most one alternative; each has one header in core/kernels/score_terms/.
struct ScoreTerms {
  Real scale = 1;
  Var query_scale;  ///< [Tq] or [H, Tq]; absent: 1
  KeyMask mask;
  PassPositions positions;
  std::variant<std::monostate, LinearBias, DistanceBias> term;
};
static_assert(std::is_trivially_destructible_v<ScoreTerms>);

/// Filled by attention() on request, without tape, summed tile by tile in double. Per head, over all batch
/// rows.
struct AttentionProbe {
  Index sink_keys = 4;        ///< how many first keys count as sinks
  std::span<double> entropy;  ///< [H] sum over rows of -sum p ln p
  std::span<double>
      normalized_entropy;       ///< [H] sum over rows of the entropy over ln(visible keys), rows that see > 1
  std::span<double> sink_mass;  ///< [H] sum over rows of the weight on the first keys
  std::span<double> distance;   ///< [H] sum over rows of sum p (i - j)
  Index rows = 0;               ///< rows added, a head
  Index rows_with_choice = 0;   ///< of these, the rows that see more than one key
};

/// Softmax attention, streamed: query tiles against key tiles, so nothing of size Tq x Tk is ever held.
///   out[b, h, i] = sum_j softmax_j(score(i, j)) v[b, h / (H / Hkv), j]
/// q [B, H, Tq, D]; k, v [B, Hkv, Tk, D] -> [B, H, Tq, D]. Hkv divides H; Tq <= Tk, last rows aligned.
/// A row that sees no key gives 0 and has gradient 0. Saved for the gradient: the output and one log-sum-exp
/// a row; probabilities are computed again. (Dao et al. 2022, 2205.14135; Rabe and Staats 2021, 2112.05682.)
/// Throws ShapeError naming the operands.
Var attention(Var q, Var k, Var v, const ScoreTerms& terms, const Dropout& dropout = {},
              AttentionProbe* probe = nullptr);

/// Keys and values that stand in a cache with room to grow: head h of sequence b begins head_stride * (b *
/// Hkv + h) numbers after the start, `rows` rows of D numbers each follow.
struct CachedKeyValues {
  const Real* keys = nullptr;
  const Real* values = nullptr;
  Index batch = 0, heads = 0, rows = 0, width = 0;
  Index head_stride = 0;
};

/// The same over a cache, without gradient: for evaluation and generation. Throws StateError on a recording
/// tape.
Var attention(Var q, const CachedKeyValues& cache, const ScoreTerms& terms, AttentionProbe* probe = nullptr);

}  // namespace tapeline::inline TAPELINE_PRECISION
