#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>

#include "core/ops.h"
#include "tests/layers/cached_check.h"
#include "tests/layers/refused_plan.h"
#include "tests/support/gradcheck.h"

using namespace tapeline;

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

using Pattern = std::vector<std::string>;

ModelPlan pattern_plan(const Pattern& pattern, Index layers = 4, Index train_length = 16) {
  ModelPlan plan = tiny_plan(pattern.empty() ? test::any_kind() : pattern.front(), train_length);
  plan.model.layers = layers;
  plan.positional.pattern = pattern;
  return plan;
}

/// A bias of its own, that counts how often it is asked for the input rows.
class CountedBias final : public PositionalEncoding {
 public:
  CountedBias(const EncodingContext& context, int& asked)
      : PositionalEncoding(context.head_width), asked_(asked) {}
  Var add_to_input(Pass&, Var x, const Positions&) const override {
    ++asked_;
    return x;
  }

 private:
  int& asked_;
};

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION

TEST_CASE("pattern: kinds in turn over the layers, layers of one kind share one object" *
          test::needs({"none", "alibi"})) {
  const Transformer model(pattern_plan({"alibi", "none", "none"}, 5));
  CHECK(&model.encoding(0) == &model.encoding(3));
  CHECK(&model.encoding(1) == &model.encoding(2));
  CHECK(&model.encoding(1) == &model.encoding(4));
  CHECK(&model.encoding(0) != &model.encoding(1));
}

TEST_CASE("pattern: one kind throughout is the model without a pattern, number by number") {
  const std::vector<Token> ids = tiny_tokens(16);
  for (const std::string& kind : all_kinds()) {
    ModelPlan plain = pattern_plan({}, 3);
    plain.positional.kind = kind;
    const std::vector<double> expected = full_logits(stirred(plain), ids);
    CHECK(full_logits(stirred(pattern_plan({kind}, 3)), ids) == expected);
    CHECK(full_logits(stirred(pattern_plan({kind, kind}, 3)), ids) == expected);
  }
}

TEST_CASE("pattern: shared parameters are bit-equal, those of a kind stand under its name" *
          test::needs({"none", "alibi", "learned"})) {
  ModelPlan plan = pattern_plan({"learned", "alibi"});
  plan.positional.options["alibi"].set("learned", true);
  Transformer model(plan);
  const Transformer plain(pattern_plan({"none"}));
  CHECK(model.parameters().size() == plain.parameters().size() + 16 * 16 + 2);
  CHECK(model.parameters().find("positional/learned/table") != nullptr);
  CHECK(model.parameters().find("positional/alibi/slopes") != nullptr);
  for (const Parameter& parameter : plain.parameters().parameters()) {
    CHECK(numbers_of(model.parameters().find(parameter.name())->value()) == numbers_of(parameter.value()));
  }
}

TEST_CASE("pattern: cached is full for every pair of kinds, under a window too") {
  for (const std::string& first : all_kinds()) {
    for (const std::string& second : all_kinds()) {
      if (first == second) continue;
      for (const KeyMask& mask : {KeyMask{}, KeyMask{.window = 4, .sinks = 2}}) {
        ModelPlan plan = pattern_plan({first, second}, 3, 36);
        plan.positional.keys = mask;
        Transformer model(plan);
        stir(model.parameters());
        check_cached(first + "/" + second, model);
      }
    }
  }
}

TEST_CASE("pattern: a layer of kind none has no parameters of positions, beside any kind" *
          test::needs({"none"})) {
  const auto loss_of = [](const Transformer& model, bool backward) {
    const std::vector<Token> ids = tiny_tokens(16), targets = tiny_tokens(16, "targets");
    TestTape tape;
    Pass pass(*tape);
    const Var loss = model.loss(pass, ids, targets, 2);
    if (backward) tape->backward(loss);
    return numbers_of(loss.value())[0];
  };
  for (const std::string& kind : all_kinds()) {
    ModelPlan plan = pattern_plan({kind, "none"}, 4, 36);
    for (const OptionField& field : encoding_kind(kind).options) {
      if (field.name == "per_layer") plan.positional.options[kind].set("per_layer", true);
    }
    Transformer model(plan);
    std::array<int, 4> of_layer{};
    for (const Parameter& parameter : model.parameters().parameters()) {
      for (std::size_t layer = 0; layer < of_layer.size(); ++layer) {
        const std::string place = fmt::format("blocks/{}/attention/positional/", layer);
        if (parameter.name().starts_with(place)) ++of_layer[layer];
      }
    }
    const std::array<int, 4> expected{of_layer[0], 0, of_layer[0], 0};
    CHECK_MESSAGE(of_layer == expected, kind);
    stir(model.parameters());
    model.parameters().zero_gradients();
    const double before = loss_of(model, true);
    for (Parameter& parameter : model.parameters().parameters()) {
      const Tensor value = parameter.mutable_value();
      for (Index i = 0; i < value.size(); ++i) value.data[i] -= Real{1e-3} * parameter.grad().data[i];
    }
    CHECK_MESSAGE(loss_of(model, false) < before, kind);
    check_cached(kind + ", every second layer", model);
  }
}

TEST_CASE("pattern: with a score scale and sampled positions around it, cached is full" *
          test::needs({"none", "rope"})) {
  ModelPlan plan = pattern_plan({"rope", "none"}, 4, 16);
  plan.positional.keys = {.window = 7, .sinks = 2};
  plan.positional.randomized = {.maximum = 64, .evaluation = "sample"};
  for (const char* scale : {"logn", "ssmax", "llama4"}) {
    plan.positional.score.scale = scale;
    plan.positional.score.floor_scale = 3;
    Transformer model(plan);
    stir(model.parameters());
    check_cached(scale, model);
  }
}

TEST_CASE("pattern: each layer has its own kind, the order of kinds matters" *
          test::needs({"none", "alibi"})) {
  const std::vector<Token> ids = tiny_tokens(16);
  const std::vector<double> one = full_logits(stirred(pattern_plan({"alibi", "none"}, 2)), ids);
  const std::vector<double> other = full_logits(stirred(pattern_plan({"none", "alibi"}, 2)), ids);
  const std::vector<double> both = full_logits(stirred(pattern_plan({"alibi"}, 2)), ids);
  CHECK(largest_difference(one, other) > 1e-3);
  CHECK(largest_difference(one, both) > 1e-3);
  CHECK(largest_difference(other, both) > 1e-3);
}

TEST_CASE("pattern: the shortest limit of its kinds holds, and is named" * test::needs({"none", "learned"})) {
  ModelPlan plan = pattern_plan({"none", "learned"});
  plan.positional.options["learned"].set("rows", Index{20});
  const Transformer model = stirred(plan);
  CHECK(model.max_length() == 20);
  CHECK(model.limited_by() == "learned");
  CHECK_THROWS_WITH_AS(full_logits(model, tiny_tokens(21)),
                       "transformer: learned positions end after row 20; row 21 was asked for; use a shorter "
                       "window, or settings "
                       "that reach further",
                       ShapeError);
}

TEST_CASE("pattern: every encoding is asked once for the input rows, and told its layers") {
  int asked = 0;
  std::vector<std::vector<Index>> layers;
  const ModelPlan plan = pattern_plan({"one", "two", "one"}, 6);
  const Transformer model(plan, [&](const EncodingContext& context) {
    layers.push_back(context.own_layers);
    CHECK(context.serves(layers.size() == 1 ? 5 : 4));
    CHECK_FALSE(context.serves(1) == (layers.size() == 1));
    return std::make_unique<CountedBias>(context, asked);
  });
  CHECK(layers == std::vector<std::vector<Index>>{{0, 2, 3, 5}, {1, 4}});
  full_logits(model, tiny_tokens(5));
  CHECK(asked == 2);
}

TEST_CASE("pattern: gradients" * test::needs({"learned", "rope", "alibi"})) {
  ModelPlan plan = pattern_plan({"learned", "rope", "alibi"}, 3, 5);
  plan.positional.options["alibi"].set("learned", true);
  Transformer model(plan);
  stir(model.parameters());
  const std::vector<Token> ids = tiny_tokens(10);
  gradcheck("a model with a pattern", model.parameters(),
            [&](Tape& tape) {
              Pass pass(tape);
              return model.hidden(pass, ids, 2);
            },
            {.elements = 5});
}

TEST_CASE("pattern: what makes no sense is refused by name") {
  CHECK(tells(refused_plan(pattern_plan({"ropee"})), {"positional.layers.pattern", "\"ropee\"", "one of"}));
  const std::string kind = test::any_kind();
  CHECK(tells(refused_plan(pattern_plan({kind, kind, kind}, 2)),
              {"positional.layers.pattern", "model.layers = 2"}));
}

TEST_CASE("pattern: names for people") {
  PositionalConfig config;
  config.kind = "rope";
  CHECK(config.name() == "rope");
  CHECK(config.kinds() == Pattern{"rope"});
  CHECK(config.uses("rope"));
  config.pattern = {"alibi", "none", "alibi"};
  CHECK(config.name() == "alibi/none/alibi");
  CHECK(config.kinds() == Pattern{"alibi", "none"});
  CHECK_FALSE(config.uses("rope"));
  CHECK(config.kind_of_layer(4) == "none");
  CHECK(config.kind_of_layer(5) == "alibi");
}
