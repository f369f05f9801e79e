#include "layers/positional/distance_encoding.h"

namespace tapeline::inline TAPELINE_PRECISION {

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
  GrowingTable& kept = kept_[static_cast<std::size_t>(set)];
  const bool keeps = GrowingTable::serves(pass, distances);
  const Var table = pass.once(&kept, distances.slot(), [&] {
    if (!keeps) return recorded_table(pass, set, distances);
    return pass.tape.constant(kept.up_to(distances.last(), common_.heads, weights(set),
                                         [&](const DistanceRows& rows) { fill(set, rows); }));
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

}  // namespace tapeline::inline TAPELINE_PRECISION
