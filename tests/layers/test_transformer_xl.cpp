#include <doctest/doctest.h>

#include <thread>

#include "tests/layers/cached_check.h"
#include "tests/layers/encoding_check.h"
#include "tests/layers/golden_attention.h"

using namespace tapeline;

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

const std::string of_all = "positional/transformer_xl/", of_first = "blocks/0/attention/positional/",
                  of_second = "blocks/1/attention/positional/";

std::vector<GoldenParameter> golden_parts(const std::string& biases, const std::string& projection) {
  return {{"Wr", projection + "projection", true},
          {"u", biases + "content_bias"},
          {"v_bias", biases + "position_bias"}};
}

/// The vector of a distance, [H D], as the terms of a pass have it.
std::vector<double> vector_of_distance(const EncodingAlone& alone, Index rows, Index distance) {
  Arena arena;
  GradientPool pool;
  Tape tape(arena, pool, Recording::off);
  Pass pass(tape);
  const Positions all = alone.encoding->positions(pass, 0, rows);
  const ScoreTerms terms = alone.encoding->score_terms(pass, {all, all}, 0);
  const auto& vectors = std::get<RelativeVectors>(terms.term);
  const Index place = distance - vectors.first_distance;
  const Index row =
      vectors.query_index.empty() ? place : vectors.query_index[static_cast<std::size_t>(place)];
  const Real* const from = vectors.query_vectors.value().data + row * 8;
  return {from, from + 8};
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION

TEST_CASE("golden attention: transformer_xl, causal") {
  GoldenAttention(config_of("transformer_xl")).check("transformer_xl_causal", golden_parts(of_all, of_first));
  GoldenAttention(config_of("transformer_xl", {{"projection_per_layer", false}}))
      .check("transformer_xl_causal", golden_parts(of_all, of_all));
  GoldenAttention(config_of("transformer_xl", {{"per_layer", true}}))
      .check("transformer_xl_causal", golden_parts(of_first, of_first));
  GoldenAttention(config_of("transformer_xl", {{"clamp_len", Index{9}}}))
      .check("transformer_xl_causal", golden_parts(of_all, of_first));
}

TEST_CASE("golden attention: xlnet, without the causal mask" * test::needs({"xlnet"})) {
  PositionalConfig config = config_of("xlnet");
  config.keys.causal = false;
  GoldenAttention(config).check("xlnet_bidirectional", golden_parts(of_first, of_first));
}

TEST_CASE("transformer_xl and xlnet: gradients of biases and projections") {
  EncodingAlone(config_of("transformer_xl")).check_gradients("transformer_xl");
  EncodingAlone(config_of("transformer_xl", {{"clamp_len", Index{3}}})).check_gradients("clamp_len");
  EncodingAlone(config_of("transformer_xl", {{"projection_per_layer", false}}))
      .check_gradients("one for all");
  EncodingAlone(config_of("transformer_xl", {{"per_layer", true}})).check_gradients("per layer");
  PositionalConfig full = config_of("transformer_xl", {{"clamp_len", Index{4}}});
  full.keys.causal = false;
  EncodingAlone(full).check_gradients("not causal");
  if (test::is_built("xlnet")) EncodingAlone(config_of("xlnet")).check_gradients("xlnet");
}

TEST_CASE("transformer_xl: which parameters are one for all layers") {
  const auto names = [](const PositionalConfig& config) {
    const EncodingAlone alone(config);
    std::vector<std::string> found;
    for (const Parameter& parameter : alone.store.parameters()) found.push_back(parameter.name());
    return found;
  };
  CHECK(names(config_of("transformer_xl", {{"projection_per_layer", false}})) ==
        std::vector{of_all + "content_bias", of_all + "position_bias", of_all + "projection"});
  CHECK(names(config_of("transformer_xl")) == std::vector{of_all + "content_bias", of_all + "position_bias",
                                                          of_first + "projection", of_second + "projection"});
  CHECK(names(config_of("transformer_xl", {{"per_layer", true}})) ==
        std::vector{of_first + "content_bias", of_first + "position_bias", of_second + "content_bias",
                    of_second + "position_bias", of_first + "projection", of_second + "projection"});
}

TEST_CASE("transformer_xl: clamp_len gives every distance beyond it the vector of that distance") {
  const EncodingAlone plain(config_of("transformer_xl")),
      clamped(config_of("transformer_xl", {{"clamp_len", Index{3}}}));
  for (const Index distance : {0, 2, 3, 4, 19}) {
    CHECK(largest_difference(vector_of_distance(clamped, 20, distance),
                             vector_of_distance(plain, 20, std::min<Index>(distance, 3))) < rounding());
  }
  CHECK(largest_difference(vector_of_distance(plain, 20, 4), vector_of_distance(plain, 20, 3)) > 1e-3);
}

TEST_CASE("transformer_xl: chunks over a cache with every option") {
  const ModelPlan plan = tiny_plan("transformer_xl", 12);
  check_cached("per layer", stirred(with_option(plan, "per_layer", true)));
  check_cached("one for all", stirred(with_option(plan, "projection_per_layer", false)));
  check_cached("clamp_len", stirred(with_option(plan, "clamp_len", Index{5})));
}

TEST_CASE("transformer_xl: what is kept from pass to pass follows the weights and the length") {
  EncodingAlone alone(config_of("transformer_xl"));
  const std::vector<double> before = alone.values(9, 0);
  alone.values(40, 0);
  CHECK(alone.values(9, 0) == before);
  // In place, as a checker of gradients does it.
  Real& weight = alone.store.find(of_first + "projection")->value().data[5];
  weight += 1;
  const std::vector<double> changed = alone.values(9, 0);
  CHECK(changed != before);
  weight -= 1;
  CHECK(largest_difference(alone.values(9, 0), before) < rounding());
}

TEST_CASE("distance vectors: passes on several threads, of any length, share them") {
  for (const std::string& kind : test::built_of({"transformer_xl", "xlnet", "deberta"})) {
    const Transformer model = stirred(tiny_plan(kind)), other = stirred(tiny_plan(kind));
    const auto vectors_of = [](const Transformer& of, Index rows, Index layer) {
      TestTape tape(Recording::off);
      Pass pass(*tape);
      const PassPositions all{{0, rows, {}}, {0, rows, {}}};
      const ScoreTerms terms = of.encoding(layer).score_terms(pass, all, layer);
      return numbers_of(std::get<RelativeVectors>(terms.term).query_vectors.value());
    };
    std::vector<int> wrong(4);
    std::vector<std::vector<double>> expected;
    for (Index rows = 1; rows < 300; rows += 7) expected.push_back(vectors_of(other, rows, rows % 2));
    std::vector<std::thread> threads;
    for (std::size_t worker = 0; worker < wrong.size(); ++worker) {
      threads.emplace_back([&, worker] {
        for (std::size_t n = 0; n < expected.size(); ++n) {
          const std::size_t at = worker % 2 == 0 ? n : expected.size() - 1 - n;
          const Index rows = 1 + 7 * static_cast<Index>(at);
          const std::vector<double> found = vectors_of(model, rows, rows % 2);
          wrong[worker] += largest_difference(found, expected[at]) < rounding() ? 0 : 1;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const int count : wrong) CHECK_MESSAGE(count == 0, kind);
  }
}

TEST_CASE("transformer_xl and xlnet: a negative clamp_len is refused by its name") {
  CHECK(refusal([] {
          EncodingAlone(config_of("transformer_xl", {{"clamp_len", Index{-1}}}));
        }) == "positional.transformer_xl.clamp_len = -1; it must be 0 (distances as they are) or more");
  if (!test::is_built("xlnet")) return;
  CHECK(refusal([] {
          EncodingAlone(config_of("xlnet", {{"clamp_len", Index{-2}}}));
        }) == "positional.xlnet.clamp_len = -2; it must be 0 (distances as they are) or more");
}
