#include <doctest/doctest.h>

#include "core/error.h"
#include "layers/positional/cope.h"
#include "tests/layers/cached_check.h"
#include "tests/layers/golden_attention.h"
#include "tests/support/gradcheck.h"

using namespace tapeline;

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

constexpr const char* first_table = "blocks/0/attention/positional/table";

std::string cope_refusal(const ModelPlan& plan) {
  try {
    const Transformer model(plan);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

Shape table_shape(const ModelPlan& plan) {
  Transformer model(plan);
  return model.parameters().find(first_table)->shape();
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION

TEST_CASE("golden attention: cope, the table's product divided and not") {
  for (const bool divide : {true, false}) {
    GoldenAttention(config_of("cope", {{"rows", "4"}, {"divide", divide}}))
        .check(divide ? "cope" : "cope_nodivide", {{"e", first_table}});
  }
  GoldenAttention(config_of("cope", {{"rows", Index{4}}, {"shared", true}}))
      .check("cope", {{"e", "positional/cope/table"}});
}

TEST_CASE("cope: one table a layer that the heads share, or one for all; zeros, without decay") {
  Transformer model(tiny_plan("cope", 16));
  for (const char* name : {first_table, "blocks/1/attention/positional/table"}) {
    const Parameter* table = model.parameters().find(name);
    REQUIRE(table != nullptr);
    CHECK(table->shape() == Shape{17, 8});
    CHECK_FALSE(table->decays());
    CHECK(numbers_of(table->value()) == std::vector<double>(17 * 8, 0.0));
  }
  CHECK(model.parameters().find("positional/cope/table") == nullptr);
  Transformer shared(with_option(tiny_plan("cope", 16), "shared", true));
  CHECK(shared.parameters().find(first_table) == nullptr);
  CHECK(shared.parameters().find("positional/cope/table")->shape() == Shape{17, 8});
  CHECK(table_shape(tiny_plan("cope", 500)) == Shape{64, 8});
  CHECK(table_shape(with_option(tiny_plan("cope", 16), "rows", Index{5})) == Shape{5, 8});
}

TEST_CASE("cope: an untrained table adds nothing: the model is the one without positions" *
          test::needs({"none"})) {
  const std::vector<Token> ids = tiny_tokens(30);
  CHECK(full_logits(Transformer(tiny_plan("cope")), ids) == full_logits(Transformer(tiny_plan("none")), ids));
}

TEST_CASE("cope: gradients of all parameters of a model, the tables among them") {
  for (const bool shared : {false, true}) {
    ModelPlan plan = with_option(tiny_plan("cope", 12), "rows", Index{6});
    plan = with_option(with_option(plan, "shared", shared), "divide", !shared);
    plan.model.heads = 4, plan.model.key_value_heads = 2;
    Transformer model(plan);
    stir(model.parameters());
    const std::vector<Token> ids = tiny_tokens(24), targets = tiny_tokens(24, "targets");
    gradcheck("cope", model.parameters(),
              [&](Tape& tape) {
                Pass pass(tape);
                return model.loss(pass, ids, targets, 2);
              },
              {.elements = 6});
  }
}

TEST_CASE("cope: past the trained length positions clip at the last row of the table") {
  // Tables that differ only past the last position that a window of 9 can reach give the same rows there.
  const ModelPlan plan = with_option(tiny_plan("cope", 8), "rows", Index{12});
  Transformer model = stirred(plan), other = stirred(plan);
  for (const char* name : {first_table, "blocks/1/attention/positional/table"}) {
    const Tensor table = other.parameters().find(name)->mutable_value();
    for (Index i = 10 * 8; i < 12 * 8; ++i) table.data[i] += 1;
  }
  const std::vector<Token> ids = tiny_tokens(60);
  CHECK(full_logits(model, std::span(ids).first(9)) == full_logits(other, std::span(ids).first(9)));
  CHECK(full_logits(model, ids) != full_logits(other, ids));
  CHECK_FALSE(model.max_length().has_value());
  // Equal rows: whatever the positions, the same number for all keys, which softmax does not see.
  Transformer flat = stirred(plan), bare = stirred(plan);
  for (Transformer* each : {&flat, &bare}) {
    for (const char* name : {first_table, "blocks/1/attention/positional/table"}) {
      const Tensor table = each->parameters().find(name)->mutable_value();
      for (Index i = 0; i < 12 * 8; ++i) {
        table.data[i] = each == &bare ? Real{0} : static_cast<Real>(0.1 * static_cast<double>(i % 8));
      }
    }
  }
  CHECK(largest_difference(full_logits(flat, ids), full_logits(bare, ids)) < cached_limit());
}

TEST_CASE("cope: chunks over a cache give the rows of the full pass, with few and with many rows") {
  for (const Index rows : {2, 5, 40}) {
    check_cached("cope, rows " + std::to_string(rows),
                 stirred(with_option(tiny_plan("cope", 36), "rows", rows)));
  }
}

TEST_CASE("cope: options that make no sense are refused by name") {
  for (const char* rows : {"1", "-3", "3.5", "65537"}) {
    CHECK(cope_refusal(with_option(tiny_plan("cope"), "rows", std::string(rows))) ==
          std::string("positional.cope.rows = ") + rows +
              "; it takes auto, or a whole number from 2 to 65536");
  }
  CHECK(cope_refusal(with_option(tiny_plan("cope"), "rows", std::string("all"))) ==
        "positional.cope.rows = \"all\"; it takes auto, or a number");
  ModelPlan symmetric = tiny_plan("cope");
  symmetric.positional.keys.causal = false;
  CHECK(
      cope_refusal(symmetric) ==
      "positional.kind = \"cope\" needs the causal mask: its positions are counted from the query backwards; "
      "choose another kind");
}
