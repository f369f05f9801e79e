#include <doctest/doctest.h>
#include <fmt/ranges.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "tests/support/text.h"
#include "tests/train/tiny.h"
#include "train/checkpoint.h"
#include "train/config_table.h"
#include "train/config_text.h"
#include "train/config_warnings.h"
#include "train/evaluate.h"
#include "train/optimizer.h"
#include "train/stored_kinds.h"
#include "train/train_step.h"

/// What goes around any encoding ([positional.score], .randomized, .layers) in configurations, checkpoints,
/// training steps and evaluations.
namespace tapeline {
namespace {

using test::contains;

ResolvedConfig with_sets(const std::vector<std::pair<std::string, std::string>>& sets) {
  ConfigSources sources;
  for (const auto& [key, value] : sets) sources.sets.push_back({key, value, "--set"});
  return resolve_config(sources);
}

std::string error_with_sets(const std::vector<std::pair<std::string, std::string>>& sets) {
  try {
    with_sets(sets);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

std::string error_in_file(const std::string& text) {
  try {
    parse_resolved(text, {}, "my.toml");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

/// "rope, none": two kinds of this build, or one twice.
std::vector<std::string> two_built_kinds() { return {test::any_kind(), std::string(built_kinds().front())}; }

/// tiny_config() with keys of [positional], one a line: "score.scale=logn".
ResolvedConfig tiny_with(const std::string& text) {
  ResolvedConfig config = tiny_config();
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t line_end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, line_end - begin);
    const std::size_t equals = line.find('=');
    assign(config, {"positional." + line.substr(0, equals), line.substr(equals + 1), "test"});
    begin = line_end + 1;
  }
  return config;
}

/// A model whose weights were moved from where they begin: there attention is nearly uniform.
Transformer moved_model(const Config& config) {
  Transformer model(model_plan(config));
  for (Parameter& parameter : model.parameters().parameters()) {
    const Tensor value = parameter.mutable_value();
    const RandomKey key = random_key(17, parameter.name());
    for (Index i = 0; i < value.size(); ++i) {
      value.data[i] += static_cast<Real>(0.2 * random_normal(key, static_cast<std::uint64_t>(i)));
    }
  }
  return model;
}

EvaluationResult evaluated_cell(const Config& config, Index length, Index batch_tokens = 2048,
                                Index chunk = 1024) {
  const Transformer model = moved_model(config);
  const TinyText text(config);
  const EvaluationPlan plan = evaluation_plan(config, scored_set(text.splits.validation, 64));
  const EvaluationCell cell{Protocol::nonoverlapping, length, length, false};
  return evaluate_cell(model, text.store, *text.tokenizer, plan, cell,
                       {.progress = {}, .batch_tokens = batch_tokens, .chunk = chunk});
}

TEST_CASE("wrappers: the keys go through text and back, with all their bits") {
  const std::vector<std::string> kinds = two_built_kinds();
  const std::string pattern = fmt::format("[\"{}\", \"{}\"]", kinds[0], kinds[1]);
  const ResolvedConfig first = with_sets({{"positional.score.scale", "ssmax"},
                                          {"positional.score.clip", "false"},
                                          {"positional.score.base_length", "512"},
                                          {"positional.score.floor_scale", "0x10"},
                                          {"positional.score.attention_scale", "0.30000000000000004"},
                                          {"positional.randomized.maximum", "4096"},
                                          {"positional.randomized.evaluation", "sample"},
                                          {"positional.layers.pattern", kinds[0] + "," + kinds[1]}});
  const PositionalConfig& positional = first.config.positional;
  CHECK(positional.score.scale == "ssmax");
  CHECK_FALSE(positional.score.clip);
  CHECK(positional.score.base_length == 512);
  CHECK(positional.score.floor_scale == 16);
  CHECK(positional.score.attention_scale == 0.30000000000000004);
  CHECK(positional.randomized.maximum == 4096);
  CHECK(positional.randomized.evaluation == "sample");
  CHECK(positional.pattern == kinds);
  for (const std::string& text : {resolved_text(first.config), annotated_text(first)}) {
    CHECK(contains(text, "[positional.layers]\npattern = " + pattern));
    const ResolvedConfig second = parse_resolved(text, origin_text(first), "stored");
    CHECK(config_difference(first.config, second.config).empty());
    CHECK(origin_text(second) == origin_text(first));
  }
  const Config plain = resolve_config({}).config;
  CHECK(contains(resolved_text(plain), "base_length = \"auto\""));
  CHECK(contains(resolved_text(plain), "pattern = []"));
  // A file of before has none of them.
  CHECK(config_difference(parse_resolved("", {}, "old").config, default_config()).empty());
}

TEST_CASE("wrappers: wrong values are refused with key and place") {
  CHECK(error_in_file("[positional.score]\nscale = \"log\"\n") ==
        "positional.score.scale (my.toml:2) is \"log\"; it must be one of none, logn, ssmax, llama4; did you "
        "mean \"logn\"?");
  CHECK(contains(error_in_file("[positional.score]\nclip = 1\n"),
                 "positional.score.clip (my.toml:2) is 1; it must be true or false"));
  CHECK(contains(error_in_file("[positional.score]\nbase_length = 1\n"),
                 "positional.score.base_length (my.toml:2) is 1; it must be at least 2"));
  CHECK(contains(error_in_file("[positional.score]\nbase_length = \"long\"\n"), "or \"auto\""));
  CHECK(contains(error_in_file("[positional.score]\nfloor_scale = 0\n"),
                 "(my.toml:2) is 0; it must be at least 1"));
  CHECK(contains(error_in_file("[positional.score]\nattention_scale = -0.1\n"), "it must be at least 0"));
  CHECK(contains(error_in_file("[positional.randomized]\nmaximum = -1\n"),
                 "positional.randomized.maximum (my.toml:2) is -1; it must be from 0"));
  CHECK(contains(error_in_file("[positional.randomized]\nevaluation = \"samples\"\n"),
                 "one of arange, sample; did you mean \"sample\"?"));
  CHECK(contains(error_in_file("[positional.layers]\npattern = [\"ropes\"]\n"),
                 "positional.layers.pattern (my.toml:2) is \"ropes\"; it must be one of"));
  CHECK(contains(error_in_file("[positional.layers]\npattern = \"rope\"\n"), "it must be a list of texts"));
  CHECK(contains(error_in_file("[positional.layer]\npattern = []\n"), "unknown key"));
}

TEST_CASE("wrappers: values that do not fit together are refused by name") {
  CHECK(error_with_sets({{"positional.randomized.maximum", "63"}}) ==
        "positional.randomized.maximum 63 (--set) does not fit train.length 64 (preset toy): each row of a "
        "window needs a position of its own; 0: no draw");
  CHECK(error_with_sets({{"positional.randomized.maximum", "64"}}) == "no error");
  const std::string kind = test::any_kind();
  CHECK(contains(
      error_with_sets({{"positional.layers.pattern", kind + "," + kind + "," + kind}, {"model.layers", "2"}}),
      "does not fit model.layers 2 (--set)"));
  CHECK(contains(
      error_with_sets(
          {{"positional.score.scale", "logn"}, {"train.length", "1"}, {"evaluate.sliding_up_to", "8"}}),
      "positional.score.base_length \"auto\" (default) does not fit train.length 1 (--set)"));
}

TEST_CASE("wrappers: the kind beside a pattern" * test::needs({"rope", "none", "alibi"})) {
  // Where it stands by default it becomes the pattern's first; named, it must be one of them.
  const ResolvedConfig settled = with_sets({{"positional.layers.pattern", "alibi,none"}});
  CHECK(settled.config.positional.kind == "alibi");
  CHECK(settled.origins.at("positional.kind") == "the first of positional.layers.pattern");
  CHECK(with_sets({{"positional.layers.pattern", "none,rope"}}).config.positional.kind == "rope");
  CHECK(with_sets({{"positional.layers.pattern", "none,alibi"}, {"positional.kind", "alibi"}})
            .config.positional.kind == "alibi");
  CHECK(contains(
      error_with_sets({{"positional.layers.pattern", "none,alibi"}, {"positional.kind", "rope"}}),
      "positional.kind \"rope\" (--set) does not fit positional.layers.pattern [\"none\", \"alibi\"] "
      "(--set)"));
  CHECK(contains(
      error_with_sets({{"positional.layers.pattern", "rope,alibi"}, {"positional.score.scale", "llama4"}}),
      "positional.score.scale \"llama4\" (--set) does not fit positional.layers.pattern"));
}

TEST_CASE("wrappers: a variant that names a kind has it in every layer, one with a pattern its first kind" *
          test::needs({"rope", "none", "alibi"})) {
  ConfigSources sources;
  sources.sets = {
      {"positional.layers.pattern", "rope,none", "--set"},
      {"compare.encodings", "alibi", "--set"},
      {"compare.variant",
       "[{name = \"turns\", positional.layers.pattern = [\"none\", \"alibi\"]}, {name = \"as\"}]", "--set"}};
  const Config config = resolve_config(sources).config;
  const std::vector<Variant> variants = all_variants(config);
  REQUIRE(variants.size() == 3);
  CHECK(with_variant(config, variants[0]).positional.name() == "alibi");
  const PositionalConfig turns = with_variant(config, variants[1]).positional;
  CHECK(turns.name() == "none/alibi");
  CHECK(turns.kind == "none");
  CHECK(with_variant(config, variants[2]).positional.name() == "rope/none");
}

TEST_CASE(
    "wrappers: settings that are not the default ones are told, options of all kinds in use among them" *
    test::needs({"rope", "none", "learned"})) {
  CHECK(positional_changes(with_sets({{"positional.score.scale", "logn"},
                                      {"positional.rope.base", "500"},
                                      {"positional.randomized.maximum", "2048"}})
                               .config) == "score.scale = \"logn\", randomized.maximum = 2048, base = 500.0");
  CHECK(positional_changes(with_sets({{"positional.layers.pattern", "learned,rope"},
                                      {"positional.rope.base", "500"},
                                      {"positional.learned.beyond", "clamp"}})
                               .config) ==
        "layers.pattern = [\"learned\", \"rope\"], learned.beyond = \"clamp\", rope.base = 500.0");
  const std::string text = resolved_text(with_sets({{"positional.layers.pattern", "learned,rope"}}).config);
  CHECK(contains(text, "[positional.learned]"));
  CHECK(contains(text, "[positional.rope]"));
}

TEST_CASE("wrappers: what can change after training: scales without weights, how positions are evaluated" *
          test::needs({"rope", "none", "learned"})) {
  const auto refusal = [](const std::vector<std::pair<std::string, std::string>>& trained,
                          std::vector<std::pair<std::string, std::string>> changes) {
    changes.insert(changes.begin(), trained.begin(), trained.end());
    try {
      require_changeable(with_sets(trained).config, with_sets(changes).config, "here");
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  CHECK(refusal({}, {{"positional.score.scale", "logn"}}) == "none");
  CHECK(refusal({}, {{"positional.score.scale", "llama4"}, {"positional.score.floor_scale", "64"}}) ==
        "none");
  CHECK(refusal({{"positional.score.scale", "logn"}}, {{"positional.score.scale", "none"}}) == "none");
  CHECK(refusal({}, {{"positional.score.scale", "ssmax"}}) ==
        "here sets positional.score.scale to \"ssmax\", in the trained model it is \"none\"; \"ssmax\" has "
        "weights of its own: a model is trained with it or never has it");
  CHECK(contains(refusal({{"positional.score.scale", "ssmax"}}, {{"positional.score.scale", "logn"}}),
                 "\"ssmax\" has weights of its own"));
  CHECK(refusal({{"positional.randomized.maximum", "256"}},
                {{"positional.randomized.evaluation", "sample"}}) == "none");
  CHECK(contains(
      refusal({{"positional.randomized.maximum", "256"}}, {{"positional.randomized.maximum", "512"}}),
      "cannot change any more"));
  const std::vector<std::pair<std::string, std::string>> mixed = {
      {"positional.layers.pattern", "learned,rope"}};
  CHECK(refusal(mixed, {{"positional.rope.base", "500"}}) == "none");
  CHECK(refusal(mixed, {{"positional.learned.beyond", "clamp"}}) == "none");
  CHECK(contains(refusal(mixed, {{"positional.layers.pattern", "rope,learned"}}),
                 "of a model with learned/rope positions"));
}

TEST_CASE("wrappers: stored variants whose pattern has a kind that is left out are dropped") {
  toml::table table = toml::parse(R"(
[positional]
layers.pattern = ["rope", "none"]
[[compare.variant]]
name = "turns"
positional = {layers.pattern = ["none", "rope"]}
[[compare.variant]]
name = "stays"
positional = {layers.pattern = ["none", "alibi"]}
[[compare.evaluation]]
name = "of turns"
of = "turns"
)");
  const std::vector<std::string_view> left_out = {"rope"};
  drop_left_out(table, left_out);
  const toml::array& variants = *table.at_path("compare.variant").as_array();
  REQUIRE(variants.size() == 1);
  CHECK((*variants[0].as_table())["name"].value_or(std::string()) == "stays");
  CHECK(table.at_path("compare.evaluation").as_array()->empty());
  CHECK(table.at_path("positional.layers.pattern").as_array()->size() == 2);  // for the reader to refuse
}

TEST_CASE("wrappers: a checkpoint brings them back, weights of the score scale among them") {
  const TemporaryFolder folder;
  const std::vector<std::string> kinds = two_built_kinds();
  const ResolvedConfig config = tiny_with(
      "score.scale=ssmax\nrandomized.maximum=96\nrandomized.evaluation=sample\nlayers.pattern=" + kinds[0] +
      "," + kinds[1]);
  Transformer model(model_plan(config.config));
  const std::string name = "blocks/1/attention/positional/score_scale";
  Parameter* scale = model.parameters().find(name);
  REQUIRE(scale != nullptr);
  scale->mutable_value().data[1] = 0.75;
  const auto optimizer = make_optimizer(config.config.optimizer, model.parameters());
  const TinyText text(config.config);
  const TrainingRecord record = fresh_record(text.store, *text.tokenizer);
  save_checkpoint(folder / "a.h5", {model, optimizer.get(), config, record});
  const Checkpoint checkpoint(folder / "a.h5");
  CHECK(config_difference(checkpoint.config().config, config.config).empty());
  const auto same = checkpoint.make_model();
  CHECK(same->parameters().find(name)->value().data[1] == Real{0.75});
  CHECK(same->plan().positional.pattern == kinds);
  // Its weights in a model without the scale: refused by name.
  const ResolvedConfig plain = tiny_with("layers.pattern=" + kinds[0] + "," + kinds[1]);
  Transformer other(model_plan(plain.config));
  CHECK_THROWS_AS(checkpoint.load_weights(other.parameters()), FileError);
}

TEST_CASE("wrappers: a step draws one set of positions however it is cut, another in the next step") {
  const Config config = tiny_with("randomized.maximum=200\nscore.scale=ssmax").config;
  const std::string letters = tiny_text(16 * 8 + 1);
  std::vector<Token> inputs, targets;
  for (std::size_t i = 0; i + 1 < letters.size(); ++i) {
    inputs.push_back(static_cast<unsigned char>(letters[i]));
    targets.push_back(static_cast<unsigned char>(letters[i + 1]));
  }
  const auto sums = [&](Index micro_batch, Index number, std::uint64_t seed) {
    Transformer model = moved_model(config);
    TrainStep step(model, {16, 8, micro_batch}, 0, seed);
    std::vector<double> all = {step.run(number, inputs, targets).total};
    for (const Parameter& parameter : model.parameters().parameters()) {
      const Tensor gradient = parameter.grad();
      all.insert(all.end(), gradient.data, gradient.data + gradient.size());
    }
    return all;
  };
  const std::vector<double> whole = sums(8, 1, 5), cut = sums(2, 1, 5);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    CHECK(std::abs(whole[i] - cut[i]) < 2e-3 * std::max(1.0, std::abs(whole[i])));
  }
  CHECK(sums(8, 1, 5) == whole);
  if (test::any_kind() == "none") return;
  CHECK(std::abs(sums(8, 2, 5)[0] - whole[0]) > 1e-3);
  CHECK(std::abs(sums(8, 1, 6)[0] - whole[0]) > 1e-3);
}

TEST_CASE("wrappers: evaluation in chunks and batches of any size is that of whole windows") {
  const std::vector<std::string> kinds = two_built_kinds();
  const std::string pattern = "\nlayers.pattern=" + kinds[0] + "," + kinds[1];
  for (const char* scale : {"logn", "ssmax", "llama4"}) {
    if (std::string(scale) == "llama4" && kinds[0] != "none" && kinds[1] != "none") continue;
    const Config config =
        tiny_with(fmt::format("score.scale={}\nscore.floor_scale=4\nscore.clip=false\nrandomized.maximum=64\n"
                              "randomized.evaluation=sample\nkeys.window=12{}",
                              scale, pattern))
            .config;
    const EvaluationResult whole = evaluated_cell(config, 64);
    REQUIRE(whole.status == "ok");
    const EvaluationResult chunked = evaluated_cell(config, 64, 2048, 7);
    const EvaluationResult alone = evaluated_cell(config, 64, 64, 1024);
    CHECK(chunked.nll == doctest::Approx(whole.nll).epsilon(1e-5));
    CHECK(alone.nll == doctest::Approx(whole.nll).epsilon(1e-5));
  }
}

TEST_CASE("wrappers: a length past the maximum of the draw is refused by name and number") {
  const Config config = tiny_with("randomized.maximum=40").config;
  const EvaluationResult refused = evaluated_cell(config, 64);
  CHECK(refused.status == "refused");
  const bool table = test::any_kind() == "learned";
  CHECK(refused.reason ==
        fmt::format("{} positions end at row 40, length 64 is past them", table ? "learned" : "randomized"));
  CHECK(evaluated_cell(config, 32).status == "ok");
}

TEST_CASE("wrappers: what changes nothing or rules lengths out is told") {
  CHECK(positional_warnings(resolve_config({}).config).empty());
  const auto told = [](const std::vector<std::pair<std::string, std::string>>& sets) {
    return fmt::format("{}", fmt::join(positional_warnings(with_sets(sets).config), "\n"));
  };
  CHECK(contains(told({{"positional.score.scale", "llama4"}}),
                 "floor_scale is 8192 and the longest length 1024"));
  CHECK(told({{"positional.score.scale", "llama4"}, {"positional.score.floor_scale", "64"}}).empty());
  CHECK(contains(told({{"positional.randomized.maximum", "512"}}), "refused"));
  CHECK(told({{"positional.randomized.maximum", "1024"}}).empty());
  if (!test::is_built("sinusoidal")) return;
  CHECK(contains(told({{"positional.randomized.maximum", "20000"}, {"positional.kind", "sinusoidal"}}),
                 "larger base"));
}

}  // namespace
}  // namespace tapeline
