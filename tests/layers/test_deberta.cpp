#include <doctest/doctest.h>

#include "layers/positional/deberta.h"
#include "tests/layers/cached_check.h"
#include "tests/layers/encoding_check.h"
#include "tests/layers/golden_attention.h"

using namespace tapeline;

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

/// The golden cases give K^r and Q^r [H, 2k, D] themselves: with P = [identity | 0] they are the first 2k
/// columns of the projections.
void check_golden_deberta(const std::string& name, const char* index, bool causal) {
  PositionalConfig config = config_of("deberta", {{"index", std::string(index)}, {"span", Index{4}}});
  config.keys.causal = causal;
  GoldenAttention golden(config);
  const auto& expected = golden_case("attention", name);
  const Tensor table = golden.store.find("positional/deberta/table")->mutable_value();
  REQUIRE(table.shape == Shape{8, 24});
  for (Index i = 0; i < table.size(); ++i) table.data[i] = i / 24 == i % 24 ? Real{1} : Real{0};
  const std::string scope = "blocks/0/attention/positional/";
  const std::vector<std::pair<std::string, std::string>> parts = {{"Kr", "key_projection"},
                                                                  {"Qr", "query_projection"}};
  const auto place = [](std::size_t head, std::size_t row, std::size_t feature) {
    return (head * 8 + feature) * 24 + row;  // in the projection, [H D, C]
  };
  for (const auto& [array, parameter] : parts) {
    const std::vector<double> numbers = golden_numbers(expected, array);
    const Tensor weight = golden.store.find(scope + parameter)->mutable_value();
    for (std::size_t n = 0; n < numbers.size(); ++n) {
      weight.data[place(n / 64, n / 8 % 8, n % 8)] = static_cast<Real>(numbers[n]);
    }
  }
  golden.check(name);
  for (const auto& [array, parameter] : parts) {
    const Tensor d_weight = golden.store.find(scope + parameter)->grad();
    std::vector<Real> found(3 * 8 * 8);
    for (std::size_t n = 0; n < found.size(); ++n) {
      found[n] = d_weight.data[place(n / 64, n / 8 % 8, n % 8)];
    }
    check_golden(name + " d_" + array, found.data(), static_cast<Index>(found.size()),
                 golden_numbers(expected, "d_" + array), Golden::gradient);
  }
}

std::string deberta_refusal(const std::map<std::string, OptionValue>& options, Index train_length = 64) {
  return refusal([&] { EncodingAlone(config_of("deberta", options), train_length); });
}

Shape deberta_table(const std::map<std::string, OptionValue>& options, Index train_length) {
  EncodingAlone alone(config_of("deberta", options), train_length);
  return alone.store.find("positional/deberta/table")->shape();
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION

TEST_CASE("golden attention: deberta, the index of the code and of the paper") {
  check_golden_deberta("deberta_code_full", "code", false);
  check_golden_deberta("deberta_paper_full", "paper", false);
  check_golden_deberta("deberta_code_causal", "code", true);
}

TEST_CASE("golden tables: deberta's buckets") {
  for (const char* name : {"deberta_bucket_256_512", "deberta_bucket_16_64"}) {
    const auto& expected = golden_case("bias", name);
    const Index buckets = expected.at("params").at("position_buckets"),
                most = expected.at("params").at("max_position");
    const std::vector<Index> distances = golden_indices(expected, "rel");
    const std::vector<Index> numbers = golden_indices(expected, "bucket");
    for (std::size_t n = 0; n < distances.size(); ++n) {
      // Past max_position - 1 the case clips the distance first.
      CHECK_MESSAGE(deberta_bucket(distances[n], buckets, most) == numbers[n], name, ", ", distances[n]);
    }
  }
}

TEST_CASE("deberta: gradients of table, projections and norm") {
  EncodingAlone(config_of("deberta", {{"span", Index{3}}})).check_gradients("deberta");
  PositionalConfig full = config_of("deberta", {{"index", std::string("paper")}});
  full.keys.causal = false;
  EncodingAlone(full).check_gradients("deberta, paper, not causal");
  full = config_of("deberta",
                   {{"position_buckets", Index{4}}, {"max_position", Index{8}}, {"norm_table", true}});
  full.keys.causal = false;
  EncodingAlone(full).check_gradients("deberta, buckets, norm");
}

TEST_CASE("deberta: the span is 512, but within the trained length; buckets take its place") {
  CHECK(deberta_table({}, 64) == Shape{128, 8});
  CHECK(deberta_table({}, 4096) == Shape{1024, 8});
  CHECK(deberta_table({{"span", Index{5}}}, 64) == Shape{10, 8});
  CHECK(deberta_table({{"position_buckets", Index{32}}}, 64) == Shape{64, 8});
}

TEST_CASE("deberta: under the causal mask every distance of training has a row, further ones the last") {
  const EncodingAlone alone(config_of("deberta"), 6);
  Arena arena;
  GradientPool pool;
  Tape tape(arena, pool, Recording::off);
  Pass pass(tape);
  const Positions rows = alone.encoding->positions(pass, 0, 9);
  const auto vectors = std::get<RelativeVectors>(alone.encoding->score_terms(pass, {rows, rows}, 1).term);
  CHECK(vectors.first_distance == 0);
  const std::vector<Index> expected = {6, 7, 8, 9, 10, 11, 11, 11, 11};
  for (std::size_t d = 0; d < expected.size(); ++d) {
    CHECK(vectors.query_index[d] == expected[d]);
    CHECK(vectors.key_index[d] == expected[d]);
  }
}

TEST_CASE("deberta: chunks over a cache with every option") {
  const ModelPlan plan = tiny_plan("deberta", 12);
  check_cached("paper", stirred(with_option(plan, "index", std::string("paper"))));
  check_cached("norm", stirred(with_option(plan, "norm_table", true)));
  check_cached("buckets",
               stirred(with_option(with_option(plan, "position_buckets", Index{8}), "norm_table", true)));
}

TEST_CASE("deberta: options that make no sense are refused") {
  CHECK(deberta_refusal({{"span", Index{0}}}) ==
        "positional.deberta.span = 0; it takes auto or a whole number of at least 1");
  CHECK(deberta_refusal({{"position_buckets", Index{7}}}) ==
        "positional.deberta.position_buckets = 7; it must be 0 (none) or an even number of at least 4");
  CHECK(
      deberta_refusal({{"position_buckets", Index{-4}}}).starts_with("positional.deberta.position_buckets"));
  CHECK(deberta_refusal({{"max_position", Index{9}}}) ==
        "positional.deberta.max_position = 9 without position_buckets; it bounds the buckets, the distances "
        "are "
        "bounded by positional.deberta.span");
  CHECK(
      deberta_refusal({{"position_buckets", Index{8}}, {"span", Index{9}}}) ==
      "positional.deberta.span = 9 with position_buckets = 8; the buckets take its place, leave it at auto");
  CHECK(deberta_refusal({{"position_buckets", Index{8}}, {"max_position", Index{5}}}) ==
        "positional.deberta.max_position = 5 with position_buckets = 8; it must be at least 6");
  CHECK(
      deberta_refusal({{"position_buckets", Index{256}}}) ==
      "positional.deberta.max_position = 64 (auto: 512, at most the trained length) with position_buckets = "
      "256; it must be at least 130");
  CHECK(deberta_refusal({{"index", std::string("both")}}) ==
        "positional.deberta.index = \"both\"; it takes one of code, paper");
}
