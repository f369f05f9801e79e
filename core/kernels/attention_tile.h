#pragma once

#include <algorithm>

#include "core/kernels/attention.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// Which pairs of one tile (query rows against key rows) see each other. `distance` is that of the tile's
/// first row and first key; sinks are the first `sinks` keys of the tile.
struct TileMask {
  bool causal = true;
  Index window = 0;
  Index sinks = 0;
  Index distance = 0;
  Index rows = 0, keys = 0;

  TileMask(const KeyMask& mask, Index tile_distance, Index tile_rows, Index first_key_row, Index tile_keys)
      : causal(mask.causal),
        window(mask.window),
        sinks(std::clamp<Index>(mask.sinks - first_key_row, 0, tile_keys)),
        distance(tile_distance),
        rows(tile_rows),
        keys(tile_keys) {}

  /// The rows [first_row, end_row) see `key`.
  Index first_row(Index key) const { return causal ? std::clamp<Index>(key - distance, 0, rows) : 0; }
  Index end_row(Index key) const {
    return window == 0 || key < sinks ? rows : std::clamp<Index>(key + window - distance, 0, rows);
  }
  /// The last of end_row over keys [begin, end).
  Index last_end_row(Index begin, Index end) const { return begin < sinks ? rows : end_row(end - 1); }
  /// Outside [first_key, end_key) `row` sees no key of the tile.
  Index first_key(Index row) const {
    return window == 0 || sinks > 0 ? 0 : std::clamp<Index>(distance + row - window + 1, 0, keys);
  }
  Index end_key(Index row) const { return causal ? std::clamp<Index>(distance + row + 1, 0, keys) : keys; }

  bool sees(Index row, Index key) const { return row >= first_row(key) && row < end_row(key); }
  /// No pair, every pair.
  bool empty() const { return first_row(0) >= rows || last_end_row(0, keys) <= 0; }
  bool whole() const { return first_row(keys - 1) == 0 && (sinks == keys || end_row(sinks) == rows); }
};

/// What a score term is shown of one tile. Scores stand transposed, [keys, attention_tile_rows]: lanes are
/// query rows, so running maxima and sums need no work across lanes and keys are read as they lie in memory.
struct ScoreTile {
  Index batch = 0, head = 0;
  Index first_row = 0, rows = 0;  // of the pass; rows beyond the last are padding
  Index first_key = 0, keys = 0;
  bool begins = false;  // the first key tile of this sweep: a running state starts anew
  TileMask mask;
  const Real* queries = nullptr;     // [D, attention_tile_rows], times factors
  const Real* factors = nullptr;     // [rows]: scale times query scale
  const Real* query_rows = nullptr;  // as they stand, without factors
  Index query_row_stride = 0;
  const Real* key_rows = nullptr;
  Index key_row_stride = 0;
  Real* scores = nullptr;  // q . k, before anything is added
};

/// Where a term adds to the gradients of the tile's queries and keys, beside its own; null: not wanted. Only
/// terms with adds_to_operands may, and only these may change d_scores, which the products with keys, queries
/// and values then see.
struct TileGradients {
  Real* query = nullptr;  // [rows, query_stride]: sums of dS k, to be multiplied by the row's factor
  Index query_stride = 0;
  Real* key = nullptr;  // [keys, key_stride], of the tile's keys
  Index key_stride = 0;
  Real* factor = nullptr;  // [rows]: the gradient by the factor of a row, without that of q . (sums above)
};

/// Where the gradients of one key head's rows are summed; null: not wanted.
struct KeyGradients {
  Real* k = nullptr;
  Index k_stride = 0;
  Real* v = nullptr;
  Index v_stride = 0;
};

/// In which order a term wants the key tiles of a query tile.
enum class KeyOrder { left_to_right, right_to_left };

/// Work of unequal size, in an order that makes contiguous shares nearly equal: 0, n-1, 1, n-2, ...
inline Index balanced_order(Index rank, Index count) {
  return rank % 2 == 0 ? rank / 2 : count - 1 - rank / 2;
}

/// Hands out pieces of a workspace, each aligned to 64 bytes.
class Carver {
 public:
  explicit Carver(Real* memory) : memory_(memory) {}
  static constexpr Index rounded(Index count) { return (count + 15) / 16 * 16; }
  Real* take(Index count) {
    Real* const piece = memory_;
    memory_ += rounded(count);
    return piece;
  }

 private:
  Real* memory_;
};

}  // namespace tapeline::inline TAPELINE_PRECISION
