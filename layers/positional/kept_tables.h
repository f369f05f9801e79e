#pragma once

#include <initializer_list>
#include <mutex>
#include <span>
#include <vector>

#include "core/parameter.h"
#include "core/tensor.h"
#include "layers/pass.h"
#include "layers/positional/distances.h"

/// Tables that follow from weights and distances alone, kept from pass to pass where no tape records, so that
/// a text that is written token by token does not make them anew for each. They are made again when the
/// weights' numbers are no longer those that they were made from. Any number of passes on any threads may use
/// one at once, as long as none changes the weights.
namespace tapeline::inline TAPELINE_PRECISION {

/// What a table is made from; null: absent.
using WeightsOfTable = std::span<const Parameter* const>;

/// The numbers of weights as they were when something was made from them.
class MadeFrom {
 public:
  /// Whether the weights hold these numbers now.
  bool same(WeightsOfTable weights) const;
  /// Takes those that the weights hold now.
  void keep(WeightsOfTable weights);

 private:
  std::vector<Real> numbers_;  // one weight after another
};

/// Numbers of a table by distance: to[row * stride + t] belongs to its row `row` (a head, mostly) and the
/// distance first + t, t < count.
struct DistanceRows {
  Real* to = nullptr;
  Index stride = 0;
  Index first = 0, count = 0;
};

/// A table of the distances from 0 on that grows with the longest: a generated token or a chunk pays for its
/// own distances only.
class GrowingTable {
 public:
  /// Whether a pass is to read it: no tape records, and no distance is below 0.
  static bool serves(const Pass& pass, const Distances& distances) {
    return !pass.tape.recording() && distances.first >= 0;
  }
  /// [rows, distances], filled up to `last_distance` and some numbers further. `fill(DistanceRows)` writes
  /// numbers of all rows, by the weights as they are. What it returns stays where it is as long as this
  /// lives.
  template <class Fill>
  Tensor up_to(Index last_distance, Index rows, WeightsOfTable weights, const Fill& fill) {
    const std::lock_guard lock(mutex_);
    const Index wanted = (last_distance + 1 + 2 * read_ahead - 1) / read_ahead * read_ahead;
    prepare(rows, wanted, weights);
    const Tensor table = table_.tensor();
    if (wanted > filled_) {
      fill(DistanceRows{
          .to = table.data + filled_, .stride = table.shape[1], .first = filled_, .count = wanted - filled_});
      filled_ = wanted;
    }
    return table;
  }

 private:
  /// A kernel reads a tile of rows at once: so many numbers past the last distance, which it drops.
  static constexpr Index read_ahead = 64;
  /// Forgets what other weights gave, and makes room.
  void prepare(Index rows, Index wanted, WeightsOfTable weights);

  std::mutex mutex_;
  MadeFrom made_from_;
  Storage table_;
  Index filled_ = 0;               // of its distances
  std::vector<Storage> outgrown_;  // a pass may still read them
};

/// Tables of any form that are made by ops, for one range of distances each.
class KeptTables {
 public:
  /// What `make()` -> Var gives from `weights` for these distances; the first of the weights belongs to this
  /// table alone. While a tape records, it is made on it once a pass.
  template <class Make>
  Var get(Pass& pass, const Distances& distances, std::initializer_list<const Parameter*> weights,
          const Make& make) const {
    const Parameter* const owner = *weights.begin();
    if (pass.tape.recording()) return pass.once(owner, distances.slot(), make);
    const std::lock_guard lock(mutex_);
    Storage& table = place_of(owner, distances, {weights.begin(), weights.size()});
    if (table.data() == nullptr) {
      const Pass::Scratch scratch(pass);
      table = copy_of(make().value());
    }
    return pass.tape.constant(table.tensor());
  }

 private:
  struct Table {
    Distances distances;
    Storage numbers;
  };
  struct Kept {
    const Parameter* owner;
    MadeFrom made_from;
    std::vector<Table> tables;
  };
  /// Where the table stands or is to stand.
  Storage& place_of(const Parameter* owner, const Distances& distances, WeightsOfTable weights) const;
  static Storage copy_of(const Tensor& table);

  mutable std::mutex mutex_;
  mutable std::vector<Kept> kept_;
};

}  // namespace tapeline::inline TAPELINE_PRECISION
