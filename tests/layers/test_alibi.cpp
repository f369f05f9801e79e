#include <doctest/doctest.h>

#include "core/error.h"
#include "core/ops.h"
#include "layers/positional/alibi.h"
#include "tests/layers/bias_check.h"
#include "tests/layers/cached_check.h"
#include "tests/layers/golden_attention.h"
#include "tests/support/golden.h"
#include "tests/support/gradcheck.h"
#include "tests/support/reference_attention.h"

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
  for (const std::string name : {"causal", "symmetric", "deepmind"}) {
    const bool causal = name == "causal";
    const AlibiPositions encoding(store.root(),
                                  {.heads = heads,
                                   .head_width = length,
                                   .train_length = length,
                                   .causal = causal,
                                   .sides = name == "deepmind" ? AlibiSides::split : AlibiSides::symmetric});
    const auto& expected = golden_case("bias", "alibi_bias_" + name + "_4x6");
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

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

ModelPlan alibi_plan(const std::map<std::string, OptionValue>& options, Index train_length = 16) {
  ModelPlan plan = tiny_plan("alibi", train_length);
  for (const auto& [name, value] : options) plan = with_option(plan, name, value);
  return plan;
}

std::vector<double> alibi_logits(const std::map<std::string, OptionValue>& options, Index rows) {
  return full_logits(stirred(alibi_plan(options)), tiny_tokens(rows));
}

/// -slope |d|, and half a slope more where d > 0, over `factor`: [H, distances of c].
std::vector<double> split_biases(const AttentionCase& c, const Distances& distances, double factor) {
  std::vector<double> table;
  for (const double slope : alibi_slopes(c.heads)) {
    for (Index d = distances.first; d < distances.first + distances.count; ++d) {
      table.push_back(slope / factor * ((d > 0 ? 0.5 : 0) - static_cast<double>(std::abs(d))));
    }
  }
  return table;
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION

TEST_CASE("alibi: sides told apart, against plain loops, with gaps, learned slopes and a factor") {
  for (const bool causal : {true, false}) {
    for (const bool learned : {true, false}) {
      CAPTURE(causal);
      CAPTURE(learned);
      PositionalConfig config =
          config_of("alibi", {{"symmetric", "split"}, {"learned", learned}, {"interpolate", Index{3}}});
      config.keys.causal = causal;
      ParameterStore store;
      AttentionCase c{"split", 2, 4, 2, 21, 70, 6, config.keys};
      const auto encoding = make_encoding(config, {.width = 24,
                                                   .heads = 4,
                                                   .head_width = 6,
                                                   .layers = 1,
                                                   .train_length = 8,
                                                   .causal = causal,
                                                   .scope = store.root()});
      store.allocate(0);
      for (const bool gaps : {false, true}) {
        for (Index j = 0; gaps && j < c.key_rows; ++j) c.key_positions.push_back(5 + j + 3 * (j / 4));
        if (gaps) c.query_positions.assign(c.key_positions.end() - c.query_rows, c.key_positions.end());
        const Distances distances = distances_of(c.positions(), causal);
        c.first_distance = distances.first;
        c.table = split_biases(c, distances, 3);
        const AttentionInputs inputs(c);
        const auto attended = [&](Tape& tape) { return attention_of(tape, *encoding, c, inputs); };
        TestTape tape;
        CHECK(attention_difference(numbers_of(attended(*tape).value()), naive_attention(c, inputs).out) <
              rounding());
        if (learned) gradcheck("alibi, split", store, attended);
      }
    }
  }
}

TEST_CASE("alibi: with a causal mask the sides make a difference to the query's own key only") {
  CHECK(alibi_logits({}, 12) == alibi_logits({{"symmetric", "yes"}}, 12));
  CHECK(largest_difference(alibi_logits({}, 12), alibi_logits({{"symmetric", "split"}}, 12)) > 1e-3);
}

TEST_CASE("alibi: slopes over a factor, or over context / trained length in a longer context") {
  const Index trained = 16;
  const std::vector<double> plain = alibi_logits({}, trained);
  CHECK(alibi_logits({{"interpolate", "auto"}}, trained) == plain);
  CHECK(alibi_logits({{"interpolate", Index{1}}}, trained) == plain);
  CHECK(largest_difference(alibi_logits({{"interpolate", 1.5}}, trained), plain) > 1e-4);
  // Twice the length: half the slopes, which are powers of two here.
  for (const char* sides : {"auto", "split"}) {
    const std::vector<double> half = alibi_logits({{"symmetric", sides}, {"interpolate", Index{2}}}, 32);
    CHECK(alibi_logits({{"symmetric", sides}, {"interpolate", "auto"}}, 32) == half);
    CHECK(largest_difference(alibi_logits({{"symmetric", sides}}, 32), half) > 1e-4);
  }
  // Learned slopes, halved by hand.
  Transformer learned = stirred(alibi_plan({{"learned", true}, {"interpolate", "auto"}}));
  Transformer halved = stirred(alibi_plan({{"learned", true}}));
  const Tensor slopes = halved.parameters().find("positional/alibi/slopes")->mutable_value();
  for (Index h = 0; h < 2; ++h) slopes.data[h] /= 2;
  CHECK(full_logits(learned, tiny_tokens(32)) == full_logits(halved, tiny_tokens(32)));
  // The context is what is declared, not what has been seen.
  const Transformer model = stirred(alibi_plan({{"interpolate", "auto"}}));
  Arena arena;
  GradientPool pool;
  Tape tape(arena, pool, Recording::off);
  Pass pass(tape);
  pass.declared_context = 32;
  const std::vector<double> declared =
      numbers_of(model.logits(pass, model.hidden(pass, tiny_tokens(12), 1)).value());
  CHECK(declared == alibi_logits({{"interpolate", Index{2}}}, 12));
}

TEST_CASE("alibi: chunks give the rows of the full pass, every option") {
  for (const char* sides : {"auto", "split"}) {
    for (const char* interpolate : {"none", "auto", "1.5"}) {
      for (const bool learned : {false, true}) {
        const auto name = fmt::format("{}, {}, learned {}", sides, interpolate, learned);
        const std::map<std::string, OptionValue> options = {
            {"symmetric", sides}, {"interpolate", interpolate}, {"learned", learned}};
        check_cached(name, stirred(alibi_plan(options)));
      }
    }
  }
}

TEST_CASE("alibi: gradients of learned slopes in a longer context") {
  Transformer model = stirred(alibi_plan({{"learned", true}, {"interpolate", "auto"}}, 3));
  const std::vector<Token> ids = tiny_tokens(14), targets = tiny_tokens(14, "targets");
  gradcheck("alibi, interpolated", model.parameters(),
            [&](Tape& tape) {
              Pass pass(tape);
              return model.loss(pass, ids, targets, 2);
            },
            {.elements = 6});
}

TEST_CASE("alibi: what makes no sense is refused by name") {
  const auto refusal_of = [](const std::string& name, OptionValue value) {
    try {
      const Transformer model(with_option(tiny_plan("alibi"), name, std::move(value)));
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(refusal_of("interpolate", 0.5) ==
        "positional.alibi.interpolate = 0.5; it takes none, auto, or a factor of 1 or more");
  CHECK(refusal_of("interpolate", Index{-2}).starts_with("positional.alibi.interpolate = -2"));
  CHECK(refusal_of("interpolate", "inf").starts_with("positional.alibi.interpolate = \"inf\""));
  CHECK(refusal_of("interpolate", false) ==
        "positional.alibi.interpolate = false; it takes one of none, auto, or a number");
  CHECK(refusal_of("symmetric", "no") ==
        "positional.alibi.symmetric = \"no\"; it takes one of auto, yes, split");
}
