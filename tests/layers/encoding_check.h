#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/ops.h"
#include "layers/positional/registry.h"
#include "tests/layers/tiny_model.h"
#include "tests/support/gradcheck.h"

/// An encoding by itself, in a small attention.
namespace tapeline::inline TAPELINE_PRECISION {

/// Two heads of width 4, two layers, with the parameters moved away from where they begin.
struct EncodingAlone {
  explicit EncodingAlone(const PositionalConfig& config, Index train_length = 8) : keys(config.keys) {
    encoding = make_encoding(config, {.width = 8,
                                      .heads = 2,
                                      .head_width = 4,
                                      .layers = 2,
                                      .train_length = train_length,
                                      .causal = config.keys.causal,
                                      .scope = store.root().scope("positional").scope(config.kind)});
    store.allocate(0);
    stir(store, 0.5);
  }

  /// Attention of the rows in a layer.
  Var attend(Tape& tape, const Storage& q, const Storage& k, const Storage& v, Index layer,
             const std::vector<Index>& positions = {}) const {
    Pass pass(tape);
    PassPositions all;
    const Index rows = q.shape()[2];
    all.query = all.key = encoding->positions(pass, 0, rows);
    if (!positions.empty()) all.query.axis[0] = all.key.axis[0] = positions;
    ScoreTerms terms = encoding->score_terms(pass, all, layer);
    terms.mask = keys;
    return attention(tape.constant(q.tensor()), tape.constant(k.tensor()), tape.constant(v.tensor()), terms);
  }

  std::vector<double> values(Index rows, Index layer) const {
    const Rows made(rows);
    Arena arena;
    GradientPool pool;
    Tape tape(arena, pool, Recording::off);
    return numbers_of(attend(tape, made.q, made.k, made.v, layer).value());
  }

  /// The gradients of all parameters, both layers added up, with and without gaps between the positions.
  void check_gradients(const std::string& name, Index rows = 11) {
    const Rows made(rows);
    std::vector<Index> gaps;
    for (Index row = 0; row < rows; ++row) gaps.push_back(2 * row + row % 3);
    for (const std::vector<Index>& positions : {std::vector<Index>{}, gaps}) {
      gradcheck(name, store, [&](Tape& tape) {
        return add(attend(tape, made.q, made.k, made.v, 0, positions),
                   attend(tape, made.q, made.k, made.v, 1, positions));
      });
    }
  }

  struct Rows {
    explicit Rows(Index rows)
        : q(random_storage({1, 2, rows, 4}, "q")),
          k(random_storage({1, 2, rows, 4}, "k")),
          v(random_storage({1, 2, rows, 4}, "v")) {}
    Storage q, k, v;
  };

  ParameterStore store;
  std::unique_ptr<PositionalEncoding> encoding;
  KeyMask keys;
};

/// What a call says when it is refused.
inline std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace tapeline::inline TAPELINE_PRECISION
