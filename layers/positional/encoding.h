#pragma once

#include <optional>
#include <string_view>

#include "layers/pass.h"

namespace tapeline::inline TAPELINE_PRECISION {

enum class Role { query, key };

/// Whether a cache holds keys as they come out of the projection, or after their rotation.
enum class CachedKeys { raw, transformed };

/// A number that tells one stretch of rows from another within a pass: the slot of Pass::once for tables by
/// row.
Index rows_slot(const Positions& rows);

/// A positional encoding: everything the Transformer asks, and the only place where it asks. The defaults
/// mean: no positions. One object serves all layers of its kind.
class PositionalEncoding {
 public:
  virtual ~PositionalEncoding() = default;

  /// The positions of rows [begin, begin + count) of a sequence.
  virtual Positions positions(Pass& pass, Index begin, Index count) const;

  /// Added to the token rows: x [B, T, C] -> [B, T, C]. Called once for each distinct encoding of a model.
  virtual Var add_to_input(Pass& pass, Var x, const Positions& rows) const;

  /// The rotation of the query or key rows.
  virtual Rotation rotation(Pass& pass, Role role, const Positions& rows, const PassPositions& all,
                            Index layer) const;

  /// Scale, mask and bias of the scores. The default: 1/sqrt(head width), causal, nothing added.
  virtual ScoreTerms score_terms(Pass& pass, const PassPositions& all, Index layer) const;

  virtual CachedKeys cached_keys() const { return CachedKeys::transformed; }

  /// Whether its scores may be multiplied by a factor a query row, as a score scale does.
  virtual bool takes_query_scale() const { return true; }

  /// The most rows a sequence may have; nullopt: any number. Past it the model refuses.
  virtual std::optional<Index> max_length() const { return std::nullopt; }

  /// The most rows that one pass may have; a longer sequence runs in chunks over a cache. nullopt: any
  /// number.
  virtual std::optional<Index> max_rows() const { return std::nullopt; }

 protected:
  explicit PositionalEncoding(Index head_width) : head_width_(head_width) {}
  Index head_width() const { return head_width_; }

 private:
  Index head_width_;
};

}  // namespace tapeline::inline TAPELINE_PRECISION
