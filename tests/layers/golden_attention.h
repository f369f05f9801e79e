#pragma once

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "core/ops.h"
#include "layers/positional/registry.h"
#include "layers/positional/score_scale.h"
#include "tests/layers/tiny_model.h"
#include "tests/support/golden.h"

/// An encoding against a case of attention.json: output and all gradients.
namespace tapeline::inline TAPELINE_PRECISION {

/// A learned part of a golden case: the array that holds its values, d_<array> its gradient, and the
/// parameter of ours. A weight stands [in, out] in the files and [out, in] here.
struct GoldenParameter {
  std::string array, parameter;
  bool transposed = false;
};

/// Three heads of width 8 over 10 rows, as all cases of attention.json have.
struct GoldenAttention {
  explicit GoldenAttention(const PositionalConfig& config) {
    const Index width = 24, heads = 3;
    encoding = make_encoding(config, {.width = width,
                                      .heads = heads,
                                      .head_width = 8,
                                      .layers = 1,
                                      .train_length = 8,
                                      .causal = config.keys.causal,
                                      .scope = store.root().scope("positional").scope(config.kind)});
    score_scale =
        make_score_scale(config, {.heads = heads, .layers = 1, .train_length = 8, .root = store.root()});
    store.allocate(0);
    mask = config.keys;
  }

  void check(const std::string& name, const std::vector<GoldenParameter>& learned = {}) {
    for (const GoldenParameter& part : learned) {
      const Tensor value = store.find(part.parameter)->mutable_value();
      const std::vector<double> numbers =
          arranged(golden_numbers(golden_case("attention", name), part.array), value.shape, part.transposed);
      for (Index i = 0; i < value.size(); ++i) {
        value.data[i] = static_cast<Real>(numbers[static_cast<std::size_t>(i)]);
      }
    }
    store.zero_gradients();
    const auto& inputs = golden_case("attention", "inputs");
    const auto& expected = golden_case("attention", name);
    const Shape shape{1, 3, 10, 8};
    const Storage q = golden_storage(inputs, "q", shape), k = golden_storage(inputs, "k", shape);
    const Storage v = golden_storage(inputs, "v", shape), d_out = golden_storage(inputs, "dout", shape);

    Tape tape(arena, pool);
    Pass pass(tape);
    PassPositions all;
    all.query = all.key = encoding->positions(pass, 0, 10);
    std::vector<Index> explicit_positions;
    if (expected.at("arrays").contains("positions")) {
      explicit_positions = golden_indices(expected, "positions");
      all.query.axis[0] = all.key.axis[0] = explicit_positions;
    }
    const Var query = tape.variable(q.tensor()), key = tape.variable(k.tensor());
    const Var value = tape.variable(v.tensor());
    const Rotation query_turn = encoding->rotation(pass, Role::query, all.query, all, 0);
    const Rotation key_turn = encoding->rotation(pass, Role::key, all.key, all, 0);
    ScoreTerms terms = encoding->score_terms(pass, all, 0);
    terms.mask = mask;
    if (score_scale) terms.query_scale = score_scale->factors(pass, all, 0);
    const Var out = attention(query_turn ? rotate(query, query_turn) : query,
                              key_turn ? rotate(key, key_turn) : key, value, terms);
    check_golden(name, out.value(), expected, "out");
    tape.backward(sum(multiply(out, tape.constant(d_out.tensor()))));
    check_golden(name, query.grad(), expected, "dq", Golden::gradient);
    check_golden(name, key.grad(), expected, "dk", Golden::gradient);
    check_golden(name, value.grad(), expected, "dv", Golden::gradient);
    for (const GoldenParameter& part : learned) {
      const Tensor found = store.find(part.parameter)->grad();
      check_golden(name + " d_" + part.array, found.data, found.size(),
                   arranged(golden_numbers(expected, "d_" + part.array), found.shape, part.transposed),
                   Golden::gradient);
    }
  }

  static std::vector<double> arranged(const std::vector<double>& numbers, const Shape& shape,
                                      bool transposed) {
    REQUIRE(static_cast<Index>(numbers.size()) == shape.size());
    if (!transposed) return numbers;
    std::vector<double> turned(numbers.size());
    const auto rows = static_cast<std::size_t>(shape[0]), columns = static_cast<std::size_t>(shape[1]);
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < columns; ++c) turned[r * columns + c] = numbers[c * rows + r];
    }
    return turned;
  }

  ParameterStore store;
  std::unique_ptr<PositionalEncoding> encoding;
  std::unique_ptr<ScoreScale> score_scale;
  KeyMask mask;
  Arena arena;
  GradientPool pool;
};

inline PositionalConfig config_of(const std::string& kind,
                                  const std::map<std::string, OptionValue>& options = {}) {
  PositionalConfig config;
  config.kind = kind;
  for (const auto& [name, value] : options) config.options[kind].set(name, value);
  return config;
}

}  // namespace tapeline::inline TAPELINE_PRECISION
