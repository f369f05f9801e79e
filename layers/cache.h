#pragma once

#include <vector>

#include "core/attention.h"
#include "core/key_mask.h"
#include "core/tensor.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// Keys and values of all rows seen so far, layer by layer, for evaluation in chunks and for generation.
/// Memory grows by doubling up to what is needed (after a MemoryError it holds nothing usable). With a window
/// the rows that no later query can see are dropped whenever room runs out: the sinks come first, then the
/// last rows without a gap, and memory stays within about twice the window and the largest chunk.
class KeyValueCache {
 public:
  /// `capacity_hint`: rows expected, to spare the growth.
  KeyValueCache(Index layers, Index batch, Index heads, Index head_width, KeyMask mask,
                Index capacity_hint = 0);

  /// Rows of the sequence seen so far (those dropped by the window included): the number of the next row.
  Index length() const { return length_; }
  Index batch() const { return batch_; }
  /// Forgets everything, a pass that failed half-way included; keeps the memory.
  void clear();
  /// Makes a cache of one sequence one of `batch` sequences, each with the rows that it holds. Throws
  /// StateError for a cache of more than one.
  void repeat(Index batch);

  /// Adds `k`, `v` [B, Hkv, T, D] of one layer as the rows after length(); returns the view that this layer's
  /// queries attend to, valid until the next pass. length() moves on when the last layer has appended.
  CachedKeyValues append(Index layer, const Tensor& k, const Tensor& v);

  /// Announces a pass: the sequence row numbers of the key rows that queries of the coming T rows will see,
  /// oldest first, these T rows included. Valid until the next call.
  Positions key_rows(Index coming_rows);

  std::size_t bytes() const;

 private:
  struct Layer {
    Storage keys, values;  // [B, Hkv, capacity, D]
  };
  /// Gives every layer memory for `batch` sequences of `capacity` rows, with the rows held copied into it;
  /// sequences beyond those that there are get the first one's. Throws MemoryError, and holds nothing usable
  /// then.
  void move_to(Index batch, Index capacity);
  Index sinks_held() const;
  void make_room(Index coming_rows);
  void drop_rows();
  void reserve(Index rows);

  Index batch_, heads_, head_width_;
  KeyMask mask_;
  Index capacity_ = 0;    // rows that fit
  Index length_ = 0;      // rows seen
  Index held_ = 0;        // rows kept
  Index coming_ = 0;      // rows announced for this pass; 0: none
  Index next_layer_ = 0;  // which layer appends next
  std::vector<Layer> layers_;
  std::vector<Index> row_numbers_;
};

}  // namespace tapeline::inline TAPELINE_PRECISION
