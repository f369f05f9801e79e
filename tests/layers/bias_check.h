#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/ops.h"
#include "layers/positional/distance_encoding.h"
#include "tests/layers/golden_attention.h"
#include "tests/support/gradcheck.h"
#include "tests/support/reference_attention.h"

/// Encodings whose scores get a bias of head and distance.
namespace tapeline::inline TAPELINE_PRECISION {

/// b_h(d) as the encoding gives it to a layer: [H, count].
inline std::vector<double> biases_of(const PositionalEncoding& encoding, Index heads,
                                     const Distances& distances, Index layer = 0) {
  const Storage table({heads, distances.count});
  dynamic_cast<const DistanceEncoding&>(encoding).biases(layer, distances, table.tensor());
  return numbers_of(table.tensor());
}

/// Attention of the case's operands under the terms of the encoding.
inline Var attention_of(Tape& tape, const PositionalEncoding& encoding, const AttentionCase& c,
                        const AttentionInputs& inputs) {
  Pass pass(tape);
  ScoreTerms terms = encoding.score_terms(pass, c.positions(), 0);
  terms.mask = c.mask;
  return attention(tape.constant(inputs.q.tensor()), tape.constant(inputs.k.tensor()),
                   tape.constant(inputs.v.tensor()), terms);
}

/// Output and gradients of attention under the encoding against plain loops over its biases, and the
/// gradients of its weights against differences: several tiles, chunked queries, shared key heads, positions
/// with gaps.
inline void check_bias(const std::string& name, PositionalConfig config, bool causal = true) {
  config.keys.causal = causal;
  ParameterStore store;
  const Index heads = 4, width = 6;
  const auto encoding = make_encoding(config, {.width = heads * width,
                                               .heads = heads,
                                               .head_width = width,
                                               .layers = 1,
                                               .train_length = 16,
                                               .causal = causal,
                                               .scope = store.root().scope("positional").scope(config.kind)});
  store.allocate(2);
  AttentionCase c{name, 2, heads, 2, 21, 70, width, config.keys};
  for (const bool gaps : {false, true}) {
    CAPTURE(gaps);
    for (Index j = 0; gaps && j < c.key_rows; ++j) c.key_positions.push_back(5 + j + 3 * (j / 4));
    if (gaps) c.query_positions.assign(c.key_positions.end() - c.query_rows, c.key_positions.end());
    const Distances distances = distances_of(c.positions(), causal);
    c.first_distance = distances.first;
    c.table = biases_of(*encoding, heads, distances);
    const AttentionInputs inputs(c);
    const auto attended = [&](Tape& tape) { return attention_of(tape, *encoding, c, inputs); };
    for (const Recording recording : {Recording::on, Recording::off}) {
      TestTape tape(recording);
      const double difference =
          attention_difference(numbers_of(attended(*tape).value()), naive_attention(c, inputs).out);
      CHECK_MESSAGE(difference < rounding(), name, ": ", difference);
    }
    if (store.size() > 0) gradcheck(name, store, attended);
  }
}

}  // namespace tapeline::inline TAPELINE_PRECISION
