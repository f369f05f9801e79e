#pragma once

#include <span>

#include "core/dropout.h"
#include "core/pairing.h"
#include "core/score_terms.h"
#include "core/tape.h"

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

/// Filled by attention() on request, without tape, summed tile by tile in double. Per head, over all batch
/// rows.
struct AttentionProbe {
  Index sink_keys = 4;        ///< how many first keys count as sinks
  std::span<double> entropy;  ///< [H] sum over rows of -sum p ln p
  std::span<double>
      normalized_entropy;       ///< [H] sum over rows of the entropy over ln(visible keys), rows that see > 1
  std::span<double> sink_mass;  ///< [H] sum over rows of the weight on the first keys of the sequence
  std::span<double> distance;   ///< [H] sum over rows of sum p (i - j), row numbers of the sequence
  Index rows = 0;               ///< rows added, a head
  Index rows_with_choice = 0;   ///< of these, the rows that see more than one key
  /// [H] sum over rows of the distance over that of the farthest key the row sees, rows that see > 1; empty:
  /// not wanted. Equal attention to all keys: half a row, without sinks. Causal masks only.
  std::span<double> normalized_distance{};
};

/// Softmax attention, streamed: query tiles against key tiles, so nothing of size Tq x Tk is ever held.
///   out[b, h, i] = sum_j softmax_j(score(i, j)) v[b, h / (H / Hkv), j]
/// q [B, H, Tq, D]; k, v [B, Hkv, Tk, D] -> [B, H, Tq, D]. Hkv divides H; Tq <= Tk, last rows aligned.
/// A row that sees no key gives 0 and has gradient 0. Saved for the gradient: the output and one log-sum-exp
/// a row; probabilities are computed again. (Dao et al. 2022, 2205.14135; Rabe and Staats 2021, 2112.05682.)
/// Throws ShapeError naming the operands, ConfigError for a combination that makes no sense.
Var attention(Var q, Var k, Var v, const ScoreTerms& terms, const Dropout& dropout = {},
              AttentionProbe* probe = nullptr);

/// Attention of a sequence over itself with the heads where a joint product leaves them: what split_heads(),
/// attention() and merge_heads() give one after the other, without the copies. joint [B, T, (H + 2 Hkv) D]:
/// query, key, value heads side by side, as linear_heads() leaves them -> [B, T, H D]. Throws as those do.
Var joint_attention(Var joint, Index heads, Index key_value_heads, const ScoreTerms& terms,
                    const Dropout& dropout = {}, AttentionProbe* probe = nullptr);

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
