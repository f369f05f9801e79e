#include <doctest/doctest.h>

#include "layers/positional/kerple.h"
#include "tests/layers/bias_check.h"

using namespace tapeline;

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

const std::vector<std::string> kerple_kinds = {"kerple_log", "kerple_power"};

std::vector<GoldenParameter> pair_of(const std::string& kind) {
  return {{"r1", "positional/" + kind + "/r1"}, {"r2", "positional/" + kind + "/r2"}};
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION

TEST_CASE("golden tables: kerple biases") {
  for (const std::string& kind : kerple_kinds) {
    const auto& expected = golden_case("bias", kind);
    ParameterStore store;
    const auto encoding =
        make_encoding(config_of(kind), {.width = 8,
                                        .heads = 4,
                                        .head_width = 2,
                                        .layers = 1,
                                        .train_length = 8,
                                        .scope = store.root().scope("positional").scope(kind)});
    store.allocate(0);
    for (const GoldenParameter& part : pair_of(kind)) {
      const Storage numbers = golden_storage(expected, part.array, {4});
      std::copy_n(numbers.data(), 4, store.find(part.parameter)->mutable_value().data);
    }
    std::vector<double> found(4 * 26), opposite(4 * 26);
    const std::vector<Index> distances = golden_indices(expected, "d");
    for (std::size_t n = 0; n < distances.size(); ++n) {
      const std::vector<double> one = biases_of(*encoding, 4, {distances[n], 1});
      const std::vector<double> other = biases_of(*encoding, 4, {-distances[n], 1});
      for (std::size_t h = 0; h < 4; ++h) found[h * 26 + n] = one[h], opposite[h * 26 + n] = other[h];
    }
    CHECK(found == opposite);
    const Storage biases = filled_storage({4, 26}, found);
    check_golden(kind, biases.tensor(), expected, "bias");
  }
}

TEST_CASE("golden attention: kerple, both kernels") {
  for (const std::string& kind : kerple_kinds) {
    GoldenAttention made(config_of(kind));
    made.check(kind, pair_of(kind));
    GoldenAttention layered(config_of(kind, {{"per_layer", true}}));
    layered.check(kind,
                  {{"r1", "blocks/0/attention/positional/r1"}, {"r2", "blocks/0/attention/positional/r2"}});
  }
}

TEST_CASE("kerple: against plain loops, with gaps between positions") {
  for (const std::string& kind : kerple_kinds) {
    check_bias(kind, config_of(kind));
    check_bias(kind + ", not causal", config_of(kind), false);
  }
}

TEST_CASE("kerple: its parameters, where they start and what they are kept within") {
  for (const std::string& kind : kerple_kinds) {
    const bool power = kind == "kerple_power";
    ParameterStore store;
    const auto encoding =
        make_encoding(config_of(kind), {.width = 4096,
                                        .heads = 4096,
                                        .head_width = 1,
                                        .layers = 2,
                                        .train_length = 8,
                                        .scope = store.root().scope("positional").scope(kind)});
    store.allocate(5);
    REQUIRE(store.parameters().size() == 2);
    for (const std::string name : {"r1", "r2"}) {
      const Parameter& parameter = *store.find("positional/" + kind + "/" + name);
      CHECK(parameter.shape() == Shape{4096});
      CHECK_FALSE(parameter.decays());
      CHECK(parameter.bounds().lowest == static_cast<Real>(0.01));
      CHECK(std::isfinite(parameter.bounds().highest) == (power && name == "r2"));
      if (power && name == "r2") CHECK(parameter.bounds().highest == 2);
      const double highest = (name == "r1") == power ? 1 : 2;
      const std::vector<double> numbers = numbers_of(parameter.value());
      double sum = 0;
      for (const double number : numbers) sum += number;
      CHECK(sum / 4096 == doctest::Approx(highest / 2).epsilon(0.05));
      CHECK(*std::ranges::max_element(numbers) <= highest);
      CHECK(*std::ranges::min_element(numbers) == static_cast<double>(static_cast<Real>(0.01)));
    }
  }
}

TEST_CASE("kerple: a pair for each layer on request, one for all otherwise") {
  for (const std::string& kind : kerple_kinds) {
    Transformer shared(tiny_plan(kind)), layered(with_option(tiny_plan(kind), "per_layer", true));
    CHECK(shared.parameters().find("positional/" + kind + "/r1") != nullptr);
    CHECK(shared.parameters().find("blocks/0/attention/positional/r1") == nullptr);
    CHECK(layered.parameters().find("positional/" + kind + "/r1") == nullptr);
    for (const char* name : {"0/attention/positional/r1", "0/attention/positional/r2",
                             "1/attention/positional/r1", "1/attention/positional/r2"}) {
      REQUIRE(layered.parameters().find(std::string("blocks/") + name) != nullptr);
    }
    CHECK(layered.parameters().size() == shared.parameters().size() + 4);
    // Each layer reads its own: what one changes the other does not see.
    const auto of = [&](Index layer) { return biases_of(layered.encoding(), 2, {0, 20}, layer); };
    const std::vector<double> first = of(0), second = of(1);
    CHECK(first != second);
    layered.parameters().find("blocks/1/attention/positional/r1")->mutable_value().data[0] += 1;
    CHECK(of(0) == first);
    CHECK(of(1) != second);
    const std::vector<Token> ids = tiny_tokens(36);
    CHECK(largest_difference(cached_logits(layered, ids, {5, 7, 1}), full_logits(layered, ids)) <
          cached_limit());
    const std::vector<Token> targets = tiny_tokens(14, "targets");
    gradcheck(kind + ", per layer", layered.parameters(),
              [&](Tape& tape) {
                Pass pass(tape);
                return layered.loss(pass, std::span(ids).first(14), targets, 2);
              },
              {.elements = 4});
  }
}

TEST_CASE("kerple: distance 0 gives 0 and no NaN, whatever the weights") {
  for (const std::string& kind : kerple_kinds) {
    GoldenAttention made(config_of(kind));
    for (Parameter& parameter : made.store.parameters()) {
      std::fill_n(parameter.mutable_value().data, 3, parameter.bounds().lowest);
    }
    CHECK(biases_of(*made.encoding, 3, {0, 1}) == std::vector<double>{0, 0, 0});
    TestTape tape;
    Pass pass(*tape);
    const Positions rows = made.encoding->positions(pass, 0, 1);
    const ScoreTerms terms = made.encoding->score_terms(pass, {rows, rows}, 0);
    const Var table = std::get<DistanceBias>(terms.term).table;
    tape->backward(sum(table));
    for (const Parameter& parameter : made.store.parameters()) {
      CHECK(numbers_of(parameter.grad()) == std::vector<double>{0, 0, 0});
    }
  }
}
