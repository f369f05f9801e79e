#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "layers/positional/registry.h"

/// What the encodings with a vector for every distance (shaw, transformer_xl, xlnet, deberta) share.
namespace tapeline::inline TAPELINE_PRECISION {

/// Distances first .. last, position of the query - position of the key.
struct DistanceSpan {
  Index first = 0, last = 0;
  Index count() const { return last - first + 1; }
  /// A number that tells what is made for one slot and span from all else: the slot of Pass::once.
  Index once_slot(Index slot) const { return slot + (last << 16) - (first << 38); }
};

/// The distances that the pairs of a pass can have: from 0 on under the causal mask, else as far to both
/// sides. Without a tape they are rounded up to a power of two, so that a table by distance is made again a
/// few times while a text grows. Explicit positions are taken to ascend.
DistanceSpan distance_span(const Pass& pass, const PassPositions& all, bool causal);

/// row(distance) for every distance of the span, in the arena of the pass.
template <class Row>
std::span<const Index> distance_index(Pass& pass, const DistanceSpan& span, const Row& row) {
  const auto count = static_cast<std::size_t>(span.count());
  Index* const index = pass.tape.arena().allocate_array<Index>(count);
  for (std::size_t n = 0; n < count; ++n) index[n] = row(span.first + static_cast<Index>(n));
  return {index, count};
}

/// Tables that depend on weights and distances only. While a tape records, one is made once a pass. Without a
/// tape it is kept from pass to pass, as long as the weights hold the same numbers: a text that is written
/// token by token does not make it anew for each. (So passes without a tape through one model run one after
/// another.)
class KeptTables {
 public:
  /// The table of a slot, which is made by `make()` -> Var [rows, columns] from `weights` for the distances
  /// of `span`.
  template <class Make>
  Var get(Pass& pass, Index slot, const DistanceSpan& span, std::initializer_list<const Parameter*> weights,
          const Make& make) const {
    if (pass.tape.recording()) return pass.once(this, span.once_slot(slot), make);
    if (const Tensor* kept = find(slot, span, weights)) return pass.tape.constant(*kept);
    return pass.tape.constant(made(pass, slot, span, weights, make));
  }

 private:
  struct Kept {
    Index slot = 0;
    DistanceSpan span;
    std::vector<Real> weights;  // one after another, as they were
    Storage table;
    Tensor view;
  };
  const Tensor* find(Index slot, const DistanceSpan& span,
                     std::initializer_list<const Parameter*> weights) const;
  template <class Make>
  Tensor made(Pass& pass, Index slot, const DistanceSpan& span,
              std::initializer_list<const Parameter*> weights, const Make& make) const {
    const Pass::Scratch scratch(pass);
    return keep(slot, span, weights, make().value());
  }
  Tensor keep(Index slot, const DistanceSpan& span, std::initializer_list<const Parameter*> weights,
              const Tensor& table) const;

  mutable std::vector<Kept> kept_;
};

}  // namespace tapeline::inline TAPELINE_PRECISION
