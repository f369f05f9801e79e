#include <doctest/doctest.h>

#include "tests/layers/cached_check.h"
#include "tests/layers/encoding_check.h"
#include "tests/layers/golden_attention.h"
#include "tests/support/reference_relative_vectors.h"

using namespace tapeline;

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

constexpr const char* shaw_table = "blocks/1/attention/positional/table";

/// The encoding's second layer against plain loops over the same table.
void check_shaw_loops(bool causal, Index clip) {
  PositionalConfig config = config_of("shaw", {{"clip", clip}});
  config.keys.causal = causal;
  EncodingAlone shaw(config);
  const Index rows = 20;
  RelativeCase c{{"shaw", 1, 2, 2, rows, rows, 4, config.keys}};
  c.form = TableForm::shared;
  c.first_distance = causal ? 0 : 1 - rows;
  c.rows = causal ? clip + 1 : 2 * clip + 1;
  for (Index d = c.first_distance; d < rows; ++d) {
    c.query_index.push_back(std::clamp(d, -clip, clip) + (causal ? 0 : clip));
  }
  RelativeInputs inputs(c);
  inputs.r = filled_storage(c.table_shape(), numbers_of(shaw.store.find(shaw_table)->value()));
  CHECK(attention_difference(shaw.values(rows, 1), naive_relative_attention(c, inputs).out) <=
        (sizeof(Real) == 8 ? 1e-12 : 2e-5));
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION

TEST_CASE("shaw: plain loops over its table give the same, clipped on one side or both") {
  for (const bool causal : {true, false}) {
    for (const Index clip : {1, 5, 30}) check_shaw_loops(causal, clip);
  }
}

TEST_CASE("shaw: gradients of the tables") {
  EncodingAlone(config_of("shaw", {{"clip", Index{4}}})).check_gradients("shaw");
  PositionalConfig full = config_of("shaw", {{"clip", Index{3}}});
  full.keys.causal = false;
  EncodingAlone(full).check_gradients("shaw, not causal");
}

TEST_CASE("shaw: the clip is 16, but within the trained length; a table has a row a distance up to it") {
  const auto rows = [](const PositionalConfig& config, Index train_length) {
    return EncodingAlone(config, train_length).store.find(shaw_table)->shape();
  };
  CHECK(rows(config_of("shaw"), 64) == Shape{17, 4});
  CHECK(rows(config_of("shaw"), 12) == Shape{12, 4});
  CHECK(rows(config_of("shaw"), 1) == Shape{2, 4});
  CHECK(rows(config_of("shaw", {{"clip", Index{40}}}), 8) == Shape{41, 4});
  PositionalConfig full = config_of("shaw", {{"clip", Index{5}}});
  full.keys.causal = false;
  CHECK(rows(full, 8) == Shape{11, 4});
}

TEST_CASE("shaw: chunks over a cache, far past the clip") {
  for (const Index clip : {1, 7}) {
    check_cached("shaw", stirred(with_option(tiny_plan("shaw", 12), "clip", clip)));
  }
}

TEST_CASE("shaw: clips that make no sense are refused") {
  const auto with = [](OptionValue clip) {
    return refusal([&] { EncodingAlone(config_of("shaw", {{"clip", std::move(clip)}})); });
  };
  CHECK(with(Index{0}) == "positional.shaw.clip = 0; it takes auto or a whole number of at least 1");
  CHECK(with(Index{-3}) == "positional.shaw.clip = -3; it takes auto or a whole number of at least 1");
  CHECK(with(2.5) == "positional.shaw.clip = 2.5; it takes auto or a whole number of at least 1");
  CHECK(with(std::string("all")) == "positional.shaw.clip = \"all\"; it takes auto, or a number");
  CHECK(with(Index{1} << 40).starts_with("positional.shaw.clip = 1099511627776; it must be 1 to "));
}
