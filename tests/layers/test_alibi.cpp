#include <doctest/doctest.h>

#include "core/ops.h"
#include "layers/positional/alibi.h"
#include "tests/support/golden.h"
#include "tests/support/reference.h"

using namespace tapeline;

TEST_CASE("golden tables: alibi slopes for every head count") {
  Index cases = 0;
  for (const auto& [name, expected] : golden_cases("bias").items()) {
    if (name.rfind("alibi_slopes_", 0) != 0) continue;
    ++cases;
    const std::vector<double> numbers = golden_numbers(expected, "slopes");
    CHECK(largest_difference(alibi_slopes(expected.at("params").at("heads")), numbers) < 1e-14);
  }
  CHECK(cases == 22);
  const std::vector<double> six = {.25, .0625, .015625, .00390625, .5, .125};
  CHECK(largest_difference(alibi_slopes(6), six) < 1e-14);
}

TEST_CASE("golden tables: alibi biases, seen through a softmax over zero scores") {
  const Index heads = 4, length = 6;
  const Storage zero({1, heads, length, length});
  Storage unit({1, heads, length, length});  // v = identity: the output is the row of weights
  for (Index h = 0; h < heads; ++h) {
    for (Index i = 0; i < length; ++i) unit.data()[(h * length + i) * length + i] = 1;
  }
  ParameterStore store;
  const AlibiPositions encoding(store.root(), {.heads = heads, .head_width = length});
  for (const bool causal : {true, false}) {
    const auto& expected = golden_case("bias", causal ? "alibi_bias_causal_4x6" : "alibi_bias_symmetric_4x6");
    std::vector<double> weights = golden_numbers(expected, "bias");
    for (Index row = 0; row < heads * length; ++row) {
      const Index last = causal ? row % length : length - 1;
      double total = 0;
      for (Index j = 0; j < length; ++j) {
        double& w = weights[static_cast<std::size_t>(row * length + j)];
        w = j <= last ? std::exp(w) : 0;
        total += w;
      }
      for (Index j = 0; j < length; ++j) weights[static_cast<std::size_t>(row * length + j)] /= total;
    }
    Arena arena;
    GradientPool pool;
    Tape tape(arena, pool, Recording::off);
    Pass pass(tape);
    const Positions rows = encoding.positions(pass, 0, length);
    ScoreTerms terms = encoding.score_terms(pass, {rows, rows}, 0);
    terms.mask.causal = causal;
    const Var nothing = tape.constant(zero.tensor());
    const Var out = attention(nothing, nothing, tape.constant(unit.tensor()), terms);
    check_golden("alibi bias", out.value().data, out.value().size(), weights);
  }
}
