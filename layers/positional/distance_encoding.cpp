#include "layers/positional/distance_encoding.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace tapeline::inline TAPELINE_PRECISION {

namespace {

/// The kernel reads a tile of rows at once: so many numbers past the last distance, which it drops.
constexpr Index read_ahead = 64;

}  // namespace

DistanceEncoding::DistanceEncoding(const Common& common)
    : PositionalEncoding(common.head_width), common_(common), kept_(static_cast<std::size_t>(common.sets)) {}

DistanceEncoding::Weights DistanceEncoding::weights(Index) const { return {}; }

void DistanceEncoding::add_gradients(const Tensor&, Index, Var, Var) const {}

void DistanceEncoding::biases(Index layer, const Distances& distances, const Tensor& to) const {
  fill(set_of(layer),
       {.to = to.data, .stride = distances.count, .first = distances.first, .count = distances.count});
}

ScoreTerms DistanceEncoding::score_terms(Pass& pass, const PassPositions& all, Index layer) const {
  ScoreTerms terms = PositionalEncoding::score_terms(pass, all, layer);
  const Distances distances = distances_of(all, common_.causal);
  const Index set = set_of(layer);
  Kept& kept = kept_[static_cast<std::size_t>(set)];
  const bool keeps = !pass.tape.recording() && distances.first >= 0;
  const Var table = pass.once(&kept, distances.slot(), [&] {
    return keeps ? pass.tape.constant(kept_table(kept, set, distances.first + distances.count - 1))
                 : recorded_table(pass, set, distances);
  });
  terms.term = DistanceBias{table, keeps ? 0 : distances.first};
  return terms;
}

Var DistanceEncoding::recorded_table(Pass& pass, Index set, const Distances& distances) const {
  const OpScope watched(pass.tape, "distance_table");
  const Tensor table = pass.tape.allocate({common_.heads, distances.count});
  fill(set,
       {.to = table.data, .stride = distances.count, .first = distances.first, .count = distances.count});
  const auto leaf = [&](Parameter* weight) { return weight == nullptr ? Var{} : pass.tape.leaf(*weight); };
  const auto [first, second] = weights(set);
  const Var weight = leaf(first), other = leaf(second);
  const OpWork work{.numbers = table.size(), .backward_numbers = table.size()};
  return pass.tape.record("distance_table", table, {weight, other}, work,
                          [this, weight, other, from = distances.first](Var output) {
                            add_gradients(output.grad(), from, weight, other);
                          });
}

bool DistanceEncoding::same_weights(const Kept& kept, Index set) const {
  std::size_t place = 0;
  for (const Parameter* weight : weights(set)) {
    if (weight == nullptr) continue;
    const Tensor value = weight->value();
    const auto count = static_cast<std::size_t>(value.size());
    if (kept.made_from.size() < place + count) return false;
    if (!std::equal(value.data, value.data + count, kept.made_from.begin() + static_cast<Index>(place))) {
      return false;
    }
    place += count;
  }
  return true;
}

// What a running pass reads is never written again under the same weights, and memory is given back by the
// destructor only: the outgrown tables together are no larger than the last.
Tensor DistanceEncoding::kept_table(Kept& kept, Index set, Index last_distance) const {
  const std::lock_guard lock(mutex_);
  if (!same_weights(kept, set)) {
    kept.filled = 0;
    kept.made_from.clear();
    for (const Parameter* weight : weights(set)) {
      if (weight == nullptr) continue;
      const Tensor value = weight->value();
      kept.made_from.insert(kept.made_from.end(), value.data, value.data + value.size());
    }
  }
  const Index wanted = (last_distance + 1 + 2 * read_ahead - 1) / read_ahead * read_ahead;
  const Index room = kept.table.data() == nullptr ? 0 : kept.table.shape()[1];
  if (wanted > room) {
    const auto doubled = static_cast<Index>(std::bit_ceil(static_cast<std::uint64_t>(wanted)));
    Storage larger({common_.heads, doubled}, "a table of biases by distance");
    for (Index head = 0; head < common_.heads; ++head) {
      std::copy_n(kept.table.data() + head * room, kept.filled, larger.data() + head * doubled);
    }
    if (room > 0) kept.outgrown.push_back(std::move(kept.table));
    kept.table = std::move(larger);
  }
  const Tensor table = kept.table.tensor();
  if (wanted > kept.filled) {
    fill(set, {.to = table.data + kept.filled,
               .stride = table.shape[1],
               .first = kept.filled,
               .count = wanted - kept.filled});
    kept.filled = wanted;
  }
  return table;
}

}  // namespace tapeline::inline TAPELINE_PRECISION
