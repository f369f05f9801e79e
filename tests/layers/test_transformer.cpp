#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <set>

#include "core/error.h"
#include "tests/layers/tiny_model.h"
#include "tests/support/gradcheck.h"

using namespace tapeline;

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

/// Gradients of all parameters through the blocks, and through the head and the loss.
void check_gradients(const std::string& name, const ModelPlan& plan, std::optional<double> dropout_rate = {},
                     Index time = 7) {
  Transformer model(plan);
  stir(model.parameters());
  const std::vector<Token> ids = tiny_tokens(2 * time), targets = tiny_tokens(2 * time, "targets");
  const GradcheckLimits limits{.elements = 12};
  gradcheck(
      name, model.parameters(),
      [&](Tape& tape) {
        Pass pass(tape);
        if (dropout_rate) pass.dropout = Dropout{.rate = *dropout_rate, .key = random_key(1, "drop")};
        return model.loss(pass, ids, targets, 2);
      },
      limits);
}

double loss_of(const Transformer& model, std::span<const Token> ids, std::span<const Token> targets,
               const std::optional<Dropout>& dropout = {}) {
  Arena arena;
  GradientPool pool;
  Tape tape(arena, pool, Recording::off);
  Pass pass(tape);
  pass.dropout = dropout;
  LossDetail detail;
  model.loss(pass, ids, targets, 2, &detail);
  return detail.total;
}

std::set<std::string> names_of(const Transformer& model) {
  std::set<std::string> names;
  for (const Parameter& parameter : model.parameters().parameters()) names.insert(parameter.name());
  return names;
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION

TEST_CASE("transformer: gradients of the whole model, every encoding") {
  for (const std::string& kind : all_kinds()) check_gradients(kind, tiny_plan(kind));
  if (test::is_built("alibi"))
    check_gradients("alibi, learned slopes", with_option(tiny_plan("alibi"), "learned", true));
  if (test::is_built("fire")) check_gradients("fire, shared", with_option(tiny_plan("fire"), "shared", true));
  for (const char* beyond : {"interpolate", "wrap"}) {
    if (test::is_built("learned"))
      check_gradients(beyond, with_option(tiny_plan("learned", 5), "beyond", beyond));
  }
}

TEST_CASE("transformer: gradients of the whole model, every option") {
  const auto with = [](auto change) {
    ModelPlan plan = tiny_plan();
    change(plan.model);
    return plan;
  };
  check_gradients("key_value_heads", with([](ModelConfig& m) { m.heads = 4, m.key_value_heads = 2; }));
  check_gradients("feed_forward", with([](ModelConfig& m) { m.feed_forward = 2; }));
  check_gradients("feed_forward_width", with([](ModelConfig& m) { m.feed_forward_width = 5; }));
  check_gradients("rms", with([](ModelConfig& m) { m.norm = "rms"; }));
  check_gradients("norm_epsilon", with([](ModelConfig& m) { m.norm_epsilon = 0.1; }));
  check_gradients("gelu_tanh", with([](ModelConfig& m) { m.activation = "gelu_tanh"; }));
  check_gradients("swiglu", with([](ModelConfig& m) { m.activation = "swiglu"; }));
  check_gradients("no bias", with([](ModelConfig& m) { m.bias = false; }));
  check_gradients("untied", with([](ModelConfig& m) { m.tied = false; }));
  check_gradients("parallel_residual", with([](ModelConfig& m) { m.parallel_residual = true; }));
  check_gradients("embedding_norm", with([](ModelConfig& m) { m.embedding_norm = true; }));
  check_gradients("dropout", tiny_plan(), 0.25);
  ModelPlan plan = tiny_plan();
  plan.positional.keys = {.causal = true, .window = 3, .sinks = 1};
  check_gradients("window and sinks", plan);
}

TEST_CASE("transformer: names, order in memory, decay groups") {
  ModelPlan plan = tiny_plan();
  Transformer model(plan);
  const std::set<std::string> names = names_of(model);
  for (const char* name :
       {"embedding/weight", "blocks/0/attention/query/weight", "blocks/1/attention/value/bias",
        "blocks/0/attention/output/weight", "blocks/1/attention_norm/gain",
        "blocks/1/feed_forward_norm/shift", "blocks/0/feed_forward/inner/weight",
        "blocks/0/feed_forward/output/bias", "final_norm/gain"}) {
    CHECK_MESSAGE(names.count(name) == 1, name);
  }
  CHECK(names.count("head/weight") == 0);
  CHECK(model.parameters().find("embedding/weight")->tied_to() == "head");
  const Real* query = model.parameters().find("blocks/0/attention/query/weight")->value().data;
  CHECK(model.parameters().find("blocks/0/attention/key/weight")->value().data == query + 16 * 16);
  CHECK(model.parameters().find("blocks/0/attention/value/weight")->value().data == query + 2 * 16 * 16);
  for (const Parameter& parameter : model.parameters().parameters()) {
    const bool matrix = parameter.name().ends_with("weight");
    CHECK_MESSAGE(parameter.decays() == matrix, parameter.name());
  }
  plan.model.tied = false;
  plan.model.bias = false;
  plan.model.activation = "swiglu";
  const Transformer untied(plan);
  const std::set<std::string> other = names_of(untied);
  CHECK(other.count("head/weight") == 1);
  CHECK(other.count("blocks/0/feed_forward/gate/weight") == 1);
  for (const std::string& name : other) {
    CHECK_MESSAGE(!(name.ends_with("bias") || name.ends_with("shift")), name);
  }
}

TEST_CASE("transformer: initial values are keyed by seed and name, and bit-equal across encodings") {
  const Transformer first(tiny_plan());
  for (const std::string& kind : all_kinds()) {
    Transformer second(tiny_plan(kind));
    for (const Parameter& parameter : first.parameters().parameters()) {
      if (parameter.name().starts_with("positional/")) continue;
      const Parameter* same = second.parameters().find(parameter.name());
      REQUIRE(same != nullptr);
      CHECK(std::memcmp(parameter.value().data, same->value().data,
                        static_cast<std::size_t>(parameter.value().size()) * sizeof(Real)) == 0);
    }
  }
  ModelPlan plan = tiny_plan();
  plan.seed = 0;
  Transformer zero(plan), again(plan);
  const auto weight = [](Transformer& model) {
    return numbers_of(model.parameters().find("embedding/weight")->value());
  };
  CHECK(weight(zero) == weight(again));
  plan.seed = 1;
  Transformer one(plan);
  CHECK(weight(zero) != weight(one));
}

TEST_CASE("transformer: initial deviations are GPT-2's") {
  ModelPlan plan = tiny_plan();
  plan.model.width = 128;
  Transformer model(plan);
  const auto deviation = [&](const char* name) {
    double squares = 0;
    const std::vector<double> numbers = numbers_of(model.parameters().find(name)->value());
    for (const double number : numbers) squares += number * number;
    return std::sqrt(squares / static_cast<double>(numbers.size()));
  };
  // Two layers: 0.02, and 0.02 / sqrt(2 * 2) for what is added to the stream.
  CHECK(std::abs(deviation("blocks/0/attention/key/weight") / 0.02 - 1) < 0.03);
  CHECK(std::abs(deviation("blocks/1/attention/output/weight") / 0.01 - 1) < 0.03);
  CHECK(std::abs(deviation("blocks/1/feed_forward/output/weight") / 0.01 - 1) < 0.03);
  CHECK(deviation("blocks/1/attention/key/bias") == 0);
  CHECK(deviation("final_norm/gain") == 1);
}

TEST_CASE("transformer: each option changes the function") {
  const std::vector<Token> ids = tiny_tokens(8);
  std::vector<std::vector<double>> seen;
  const auto add = [&](auto change) {
    ModelPlan plan = tiny_plan();
    plan.model.bias = true;
    change(plan);
    Transformer model(plan);
    stir(model.parameters());
    seen.push_back(full_logits(model, ids));
    for (std::size_t i = 0; i + 1 < seen.size(); ++i) {
      CHECK_MESSAGE(largest_difference(seen[i], seen.back()) > 1e-3, "variants ", i, " and ",
                    seen.size() - 1);
    }
  };
  add([](ModelPlan&) {});
  add([](ModelPlan& p) { p.model.norm = "rms"; });
  add([](ModelPlan& p) { p.model.norm_epsilon = 0.5; });
  add([](ModelPlan& p) { p.model.activation = "gelu_tanh", p.model.feed_forward = 3; });
  add([](ModelPlan& p) { p.model.parallel_residual = true; });
  add([](ModelPlan& p) { p.model.embedding_norm = true; });
  add([](ModelPlan& p) { p.positional.keys.window = 2; });
  add([](ModelPlan& p) { p.positional.keys = {.window = 2, .sinks = 1}; });
  if (!test::is_built("rope")) return;
  add([](ModelPlan& p) { p.positional.options["rope"].set("base", 100.0); });
  add([](ModelPlan& p) { p.positional.options["rope"].set("pairing", std::string("interleaved")); });
  add([](ModelPlan& p) { p.positional.options["rope"].set("fraction", 0.5); });
}

TEST_CASE("transformer: no dropout of any kind without being asked, the same bits with the same key") {
  ModelPlan plan = tiny_plan();
  const std::vector<Token> ids = tiny_tokens(16), targets = tiny_tokens(16, "targets");
  const Transformer plain(plan);
  plan.model.dropout = 0.5;
  const Transformer dropping(plan);
  const double expected = loss_of(plain, ids, targets);
  CHECK(loss_of(plain, ids, targets) == expected);
  CHECK(loss_of(dropping, ids, targets) == expected);
  CHECK(loss_of(dropping, ids, targets) == expected);
  const Dropout one{.rate = 0.5, .key = random_key(0, "a")}, two{.rate = 0.5, .key = random_key(0, "b")};
  CHECK(loss_of(plain, ids, targets, one) == loss_of(plain, ids, targets, one));
  CHECK(loss_of(plain, ids, targets, one) != expected);
  CHECK(loss_of(plain, ids, targets, one) != loss_of(plain, ids, targets, two));
}

TEST_CASE("pass: every place and every layer has a dropout key of its own, and the rate of the pass") {
  Arena arena;
  GradientPool pool;
  Tape tape(arena, pool);
  Pass pass(tape);
  CHECK(pass.dropout_at("attention", 0).rate == 0);
  pass.dropout = Dropout{.rate = 0.3, .key = random_key(0, "a"), .first_sequence = 5};
  std::set<std::uint64_t> keys;
  for (const char* place : {"embedding", "attention", "attention_output", "feed_forward_output"}) {
    for (Index layer = 0; layer < 5; ++layer) {
      const Dropout here = pass.dropout_at(place, layer);
      CHECK(here.rate == 0.3);
      CHECK(here.first_sequence == 5);
      keys.insert(here.key.value);
    }
  }
  CHECK(keys.size() == 20);
}

TEST_CASE("transformer: dropout belongs to the sequence, not to the cut into micro-batches") {
  Transformer model(tiny_plan());
  stir(model.parameters());
  const std::vector<Token> ids = tiny_tokens(16), targets = tiny_tokens(16, "targets");
  const auto losses = [&](std::span<const Token> x, std::span<const Token> y, Index batch, Index first) {
    Arena arena;
    GradientPool pool;
    Tape tape(arena, pool);
    Pass pass(tape);
    pass.dropout = Dropout{.rate = 0.3, .key = random_key(0, "a"), .first_sequence = first};
    LossDetail detail;
    model.loss(pass, x, y, batch, &detail);
    return detail.total;
  };
  const std::span<const Token> x(ids), y(targets);
  const double whole = losses(x, y, 2, 0);
  const double parts = losses(x.first(8), y.first(8), 1, 0) + losses(x.last(8), y.last(8), 1, 1);
  CHECK(whole == doctest::Approx(parts).epsilon(1e-6));
}

TEST_CASE("transformer: batches and tokens that do not fit are refused") {
  const Transformer model(tiny_plan());
  Arena arena;
  GradientPool pool;
  Tape tape(arena, pool);
  Pass pass(tape);
  const std::vector<Token> ids = tiny_tokens(7);
  CHECK_THROWS_WITH_AS(model.hidden(pass, ids, 2),
                       "transformer: 7 tokens in a batch of 2; each sequence needs the same number of "
                       "tokens, at least 1",
                       ShapeError);
  CHECK_THROWS_AS(model.hidden(pass, {}, 1), ShapeError);
  CHECK_THROWS_AS(model.hidden(pass, std::vector<Token>{1, 11}, 1), ShapeError);
  CHECK_THROWS_AS(model.loss(pass, ids, std::span(ids).first(6), 1), ShapeError);
  KeyValueCache cache = model.make_cache(1);
  CHECK_THROWS_AS(model.hidden(pass, ids, 1, &cache), StateError);
}

TEST_CASE("transformer: a probe for each layer is filled") {
  const Transformer model(tiny_plan());
  std::vector<double> numbers(2 * 4 * 2);
  std::vector<AttentionProbe> probes(2);
  for (std::size_t layer = 0; layer < 2; ++layer) {
    const auto part = [&](std::size_t which) {
      return std::span(numbers).subspan((layer * 4 + which) * 2, 2);
    };
    probes[layer].entropy = part(0);
    probes[layer].normalized_entropy = part(1);
    probes[layer].sink_mass = part(2);
    probes[layer].distance = part(3);
  }
  Arena arena;
  GradientPool pool;
  Tape tape(arena, pool, Recording::off);
  Pass pass(tape);
  pass.probes = probes;
  model.hidden(pass, tiny_tokens(20), 2);
  for (const AttentionProbe& probe : probes) {
    CHECK(probe.rows == 20);
    for (const double entropy : probe.entropy) CHECK(entropy > 0);
  }
}
