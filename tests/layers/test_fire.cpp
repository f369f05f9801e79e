#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/error.h"
#include "layers/positional/fire.h"
#include "tests/layers/cached_check.h"
#include "tests/layers/golden_attention.h"
#include "tests/support/reference_attention.h"

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

constexpr double fire_limit = sizeof(Real) == 8 ? 1e-11 : 2e-5;

std::vector<GoldenParameter> golden_parameters(const std::string& place) {
  std::vector<GoldenParameter> all;
  for (const auto& [array, parameter] : {std::pair<std::string, std::string>{"w1", "inner_weight"},
                                         {"b1", "inner_bias"},
                                         {"w2", "output_weight"},
                                         {"b2", "output_bias"},
                                         {"c", "kappa"},
                                         {"lmul", "mu"}}) {
    all.push_back({array, place + "/" + parameter});
  }
  return all;
}

/// FIRE over `heads` heads of width 8, its parameters moved from where they begin.
struct Fire {
  Index heads = 3;
  ParameterStore store;
  FirePositions encoding;

  explicit Fire(bool causal = true, Index hidden = 32)
      : encoding(
            {.heads = 3, .head_width = 8, .layers = 1, .causal = causal, .scope = store.root().scope("fire")},
            {.hidden = hidden, .length = 20, .shared = true}) {
    store.allocate(0);
    stir(store);
  }

  double number(const char* name, Index n = 0) {
    return static_cast<double>(store.find(std::string("fire/") + name)->value().data[n]);
  }

  /// The bias as the paper writes it.
  double bias(Index head, Index query, Index key) {
    const double kappa = number("kappa");
    const double largest = std::max(static_cast<double>(query), std::abs(number("mu") * 20));
    const double x = std::log(std::abs(kappa * static_cast<double>(query - key)) + 1) /
                     (std::log(std::abs(kappa * largest) + 1) + 1e-6);
    const Index hidden = store.find("fire/inner_weight")->value().size();
    double sum = number("output_bias", head);
    for (Index u = 0; u < hidden; ++u) {
      const double unit = number("inner_weight", u) * x + number("inner_bias", u);
      sum += number("output_weight", head * hidden + u) * std::max(unit, 0.0);
    }
    return sum;
  }
};

std::string fire_refusal(const ModelPlan& plan) {
  try {
    const Transformer model(plan);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST_CASE("golden attention: fire and the gradients of its six parameters, shared and by layer") {
  for (const bool shared : {true, false}) {
    GoldenAttention(config_of("fire", {{"hidden", Index{6}}, {"length", Index{6}}, {"shared", shared}}))
        .check("fire", golden_parameters(shared ? "positional/fire" : "blocks/0/attention/positional"));
  }
}

TEST_CASE("fire: the network by segments is the network pair by pair, over several tiles") {
  for (const bool causal : {true, false}) {
    Fire fire(causal);
    AttentionCase whole{"whole", 1, 3, 3, 150, 150, 8, {causal, 0, 0}};
    AttentionCase chunk = whole;
    chunk.query_rows = 70;
    AttentionCase gaps = whole;
    for (Index i = 0; i < 150; ++i) gaps.key_positions.push_back(4 * i + i % 3);
    gaps.query_positions = gaps.key_positions;
    AttentionCase unsorted = gaps;  // allowed; a visible key may then have a larger position
    std::swap(unsorted.key_positions[20], unsorted.key_positions[90]);
    unsorted.query_positions = unsorted.key_positions;
    for (AttentionCase c : {whole, chunk, gaps, unsorted}) {
      c.bias = [&](Index h, Index i, Index j) {
        const Index key = c.key_positions.empty() ? j : c.key_positions[static_cast<std::size_t>(j)];
        return fire.bias(h, key + c.distance(i, j), key);
      };
      const AttentionInputs inputs(c);
      TestTape tape(Recording::off);
      Pass pass(*tape);
      ScoreTerms terms = fire.encoding.score_terms(pass, c.positions(), 0);
      terms.mask = c.mask;
      const Var out = attention(tape->constant(inputs.q.tensor()), tape->constant(inputs.k.tensor()),
                                tape->constant(inputs.v.tensor()), terms);
      CHECK(attention_difference(numbers_of(out.value()), naive_attention(c, inputs).out) <= fire_limit);
    }
  }
}

TEST_CASE("fire: parameters by layer or shared, where they begin, what decays") {
  const ModelPlan plan = tiny_plan("fire");
  const Transformer by_layer(plan), shared(with_option(plan, "shared", true));
  const Index each = 2 + 2 * 32 + 2 * 33;
  const auto count = [](const Transformer& model) { return model.parameters().size(); };
  CHECK(count(by_layer) - count(shared) == each);
  for (const std::string place :
       {"positional/fire", "blocks/0/attention/positional", "blocks/1/attention/positional"}) {
    const Transformer& model = place == "positional/fire" ? shared : by_layer;
    for (const Parameter& parameter : model.parameters().parameters()) {
      if (parameter.name().find(place) == std::string::npos) continue;
      const std::string name = parameter.name().substr(place.size() + 1);
      CHECK(parameter.decays() == (name == "output_weight"));
      const std::vector<double> numbers = numbers_of(parameter.value());
      if (name == "kappa") CHECK(numbers[0] == doctest::Approx(0.1));
      if (name == "mu") CHECK(numbers[0] == 1);
      if (numbers.size() < 32) continue;
      const double bound = name == "output_weight" ? 1 / std::sqrt(32.0) : 1;
      const auto [least, largest] = std::ranges::minmax(numbers);
      CHECK(least >= -bound);
      CHECK(largest <= bound);
      CHECK(least < -bound / 2);
      CHECK(largest > bound / 2);
    }
  }
}

TEST_CASE("fire: auto is a quarter of the trained length, and the threshold matters") {
  const std::vector<Token> ids = tiny_tokens(40);
  const auto logits = [&](const std::string& length) {
    return full_logits(stirred(with_option(tiny_plan("fire", 64), "length", length)), ids);
  };
  CHECK(logits("auto") == logits("16"));
  CHECK(logits("auto") != logits("17"));
}

TEST_CASE("fire: rows past the trained length, in chunks over a cache") {
  for (const bool shared : {false, true}) {
    const Transformer model = stirred(with_option(tiny_plan("fire", 8), "shared", shared));
    check_cached("fire", model);
  }
}

TEST_CASE("fire: what layers share is made once a pass, what belongs to a layer is not") {
  for (const bool shared : {false, true}) {
    const Transformer model = stirred(with_option(tiny_plan("fire"), "shared", shared));
    TestTape tape(Recording::off);
    Pass pass(*tape);
    const Positions rows{.begin = 0, .count = 9};
    const auto term = [&](Index layer) {
      return std::get<RowNormalizedBias>(model.encoding().score_terms(pass, {rows, rows}, layer).term);
    };
    const auto in_common = [](const RowNormalizedBias& a, const RowNormalizedBias& b) {
      int parts = 0;
      for (const auto& [x, y] : {std::pair(a.numerator, b.numerator),
                                 {a.denominator, b.denominator},
                                 {a.cuts, b.cuts},
                                 {a.slopes, b.slopes},
                                 {a.intercepts, b.intercepts}}) {
        parts += x.value().data == y.value().data ? 1 : 0;
      }
      return parts;
    };
    CHECK(in_common(term(0), term(0)) == 5);
    CHECK(in_common(term(0), term(1)) == (shared ? 5 : 0));
  }
}

TEST_CASE("fire: numerators stay from pass to pass, and follow the weight") {
  Fire fire;
  const auto numerator = [&](Recording recording, Index begin, Index rows) {
    TestTape tape(recording);
    Pass pass(*tape);
    const PassPositions all{{begin, rows, {}}, {0, begin + rows, {}}};
    const auto term = std::get<RowNormalizedBias>(fire.encoding.score_terms(pass, all, 0).term);
    CHECK(term.first_distance == 0);
    std::vector<double> numbers = numbers_of(term.numerator.value());
    numbers.resize(static_cast<std::size_t>(begin + rows));
    return std::pair(numbers, term.numerator.value().data);
  };
  for (int change = 0; change < 2; ++change) {
    for (const Index begin : {0, 30, 300, 299, 40}) {
      const auto [kept, place] = numerator(Recording::off, begin, 3);
      CHECK(kept == numerator(Recording::on, begin, 3).first);
      CHECK(place == numerator(Recording::off, begin + 1, 1).second);
    }
    fire.store.find("fire/kappa")->value().data[0] += Real{0.5};
  }
}

TEST_CASE("fire: options that make no sense are refused by name") {
  const ModelPlan plan = tiny_plan("fire");
  CHECK(fire_refusal(plan) == "nothing was thrown");
  CHECK(fire_refusal(with_option(plan, "hidden", Index{0})) ==
        "positional.fire.hidden = 0; it must be 1 to 4096");
  CHECK(fire_refusal(with_option(plan, "hidden", Index{5000})) ==
        "positional.fire.hidden = 5000; it must be 1 to 4096");
  CHECK(fire_refusal(with_option(plan, "length", 0.0)) ==
        "positional.fire.length = \"0\"; it takes auto or a number above 0");
  CHECK(fire_refusal(with_option(plan, "length", std::string("long"))) ==
        "positional.fire.length = \"long\"; it takes auto, or a number");
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION
