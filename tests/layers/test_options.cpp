#include <doctest/doctest.h>

#include "core/error.h"
#include "layers/model_config.h"
#include "layers/option.h"
#include "layers/positional/registry.h"
#include "tests/layers/tiny_model.h"

using namespace tapeline;

namespace {

/// The text of the ConfigError that the plan earns; empty when it builds.
std::string refusal(const ModelPlan& plan) {
  try {
    const Transformer model(plan);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

bool mentions(const std::string& text, std::initializer_list<const char*> words) {
  for (const char* word : words) {
    if (text.find(word) == std::string::npos) return false;
  }
  return text.find('\n') == std::string::npos;
}

}  // namespace

TEST_CASE("options: initial values, set values, and mistakes of ours") {
  OptionValues values(std::vector<OptionField>{{.name = "base", .initial = 10000.0, .help = ""},
                                               {.name = "rows", .initial = Index{0}, .help = ""},
                                               {.name = "on", .initial = true, .help = ""}});
  CHECK(values.number("base") == 10000.0);
  CHECK(values.number("rows") == 0.0);
  CHECK(values.flag("on"));
  values.set("rows", Index{7});
  CHECK(values.integer("rows") == 7);
  CHECK(values.all().size() == 3);
  CHECK_THROWS_AS(values.text("base"), StateError);
  CHECK_THROWS_AS(values["missing"], StateError);
}

TEST_CASE("options: checked values") {
  const OptionField number{.name = "base", .initial = 1.5, .help = ""};
  CHECK(std::get<double>(checked_option(number, Index{2}, "x.base")) == 2.0);
  CHECK_THROWS_WITH_AS(checked_option(number, std::string("two"), "x.base"),
                       "x.base = \"two\"; it takes a number", ConfigError);
  const OptionField word{
      .name = "layout", .initial = std::string("half"), .help = "", .choices = {"half", "whole"}};
  CHECK_THROWS_WITH_AS(checked_option(word, std::string("both"), "x.layout"),
                       "x.layout = \"both\"; it takes one of half, whole", ConfigError);
  const OptionField either{
      .name = "scale", .initial = std::string("auto"), .help = "", .choices = {"auto"}, .number_too = true};
  CHECK(std::get<std::string>(checked_option(either, 0.5, "x.scale")) == "0.5");
  CHECK(std::get<std::string>(checked_option(either, Index{2}, "x.scale")) == "2");
  CHECK(std::get<std::string>(checked_option(either, std::string("1e-3"), "x.scale")) == "1e-3");
  CHECK_THROWS_WITH_AS(checked_option(either, std::string("big"), "x.scale"),
                       "x.scale = \"big\"; it takes auto, or a number", ConfigError);
}

TEST_CASE("model config: sizes that do not fit are refused in one line that names the keys") {
  ModelPlan plan = tiny_plan();
  CHECK(refusal(plan).empty());
  plan.model.width = 15;
  CHECK(mentions(refusal(plan), {"model.width = 15", "model.heads = 2"}));
  plan = tiny_plan();
  plan.model.heads = 4;
  plan.model.key_value_heads = 3;
  CHECK(mentions(refusal(plan), {"model.heads = 4", "model.key_value_heads = 3"}));
  plan = tiny_plan();
  plan.model.layers = 0;
  CHECK(mentions(refusal(plan), {"model.layers = 0"}));
  plan = tiny_plan();
  plan.model.layers = Index{1} << 24;
  CHECK(mentions(refusal(plan), {"model.layers = 16777216", "at most 4096"}));
  plan = tiny_plan();
  plan.model.width = Index{1} << 20;
  CHECK(mentions(refusal(plan), {"parameters", "this machine has", "model.width"}));
  plan = tiny_plan();
  plan.model.feed_forward = 0;
  CHECK(mentions(refusal(plan), {"model.feed_forward = 0"}));
  plan = tiny_plan();
  plan.model.norm = "batch";
  CHECK(mentions(refusal(plan), {"model.norm", "batch", "layer, rms"}));
  plan = tiny_plan();
  plan.model.activation = "relu";
  CHECK(mentions(refusal(plan), {"model.activation", "relu", "swiglu"}));
  plan = tiny_plan();
  plan.model.norm_epsilon = 0;
  CHECK(mentions(refusal(plan), {"model.norm_epsilon"}));
  plan = tiny_plan();
  plan.model.dropout = -0.1;
  CHECK(mentions(refusal(plan), {"model.dropout = -0.1"}));
}

TEST_CASE("positional config: what makes no sense is refused by name") {
  ModelPlan plan = tiny_plan();
  plan.positional.keys.window = -1;
  CHECK(mentions(refusal(plan), {"positional.keys.window = -1"}));
  plan = tiny_plan();
  plan.positional.keys.sinks = -1;
  CHECK(mentions(refusal(plan), {"positional.keys.sinks = -1"}));
  CHECK(mentions(refusal(with_option(tiny_plan(), "bass", 2.0)), {"positional.", ".bass"}));
  CHECK(mentions(refusal(tiny_plan("ropee")), {"\"ropee\"; it must be one of"}));
}

TEST_CASE("positional config: what makes no sense is refused by name, rope" * test::needs({"rope"})) {
  CHECK(mentions(refusal(with_option(tiny_plan("rope"), "fraction", 0.3)),
                 {"positional.rope.fraction = 0.3", "2.4", "even"}));
  CHECK(mentions(refusal(with_option(tiny_plan("rope"), "fraction", 0.0)), {"positional.rope.fraction"}));
  CHECK(mentions(refusal(with_option(tiny_plan("rope"), "base", 1.0)), {"positional.rope.base"}));
  CHECK(mentions(refusal(with_option(tiny_plan("rope"), "pairing", "adjacent")),
                 {"positional.rope.pairing", "half, interleaved"}));
  ModelPlan odd = tiny_plan("rope");  // a head width of 5: refused where pairs are turned, else fine
  odd.model.width = 15;
  odd.model.heads = 3;
  CHECK(mentions(refusal(odd), {"head width of 5", "even"}));
  for (const std::string& kind : all_kinds()) {
    odd.positional.kind = kind;
    CHECK(refusal(odd).empty() == (kind != "rope" && kind != "xpos"));
  }
}

TEST_CASE("positional config: what makes no sense is refused by name, learned" * test::needs({"learned"})) {
  CHECK(mentions(refusal(with_option(tiny_plan("learned"), "rows", Index{-1})), {"positional.learned.rows"}));
  CHECK(mentions(refusal(with_option(tiny_plan("learned"), "rows", Index{1} << 58)),
                 {"positional.learned.rows"}));
  CHECK(mentions(refusal(with_option(tiny_plan("learned"), "rows", Index{3})),
                 {"positional.learned.rows = 3", "train.length"}));
}

TEST_CASE("positional config: what makes no sense is refused by name, sinusoidal" *
          test::needs({"sinusoidal"})) {
  CHECK(mentions(refusal(with_option(tiny_plan("sinusoidal"), "scale", "large")),
                 {"positional.sinusoidal.scale", "auto"}));
}

TEST_CASE("positional config: without positions and without a causal mask" * test::needs({"none"})) {
  ModelPlan plan = tiny_plan("none");
  plan.positional.keys.causal = false;
  CHECK(mentions(refusal(plan), {"none", "causal"}));
}

TEST_CASE("registry: every kind tells a reader what it is") {
  CHECK_FALSE(all_kinds().empty());
  for (const std::string& name : all_kinds()) {
    const EncodingKind& kind = encoding_kind(name);
    CHECK(kind.name == name);
    for (const std::string_view text :
         {kind.title, kind.formula, kind.acts_on, kind.parameters, kind.beyond, kind.paper}) {
      CHECK_FALSE(text.empty());
    }
    CHECK(kind.paper.find("arXiv") != std::string_view::npos);
    for (const OptionField& field : kind.options) CHECK_FALSE(field.help.empty());
  }
}
