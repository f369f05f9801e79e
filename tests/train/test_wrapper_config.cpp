#include <doctest/doctest.h>
#include <fmt/ranges.h>

#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "tests/support/kinds.h"
#include "tests/support/text.h"
#include "train/config_loader.h"
#include "train/config_table.h"
#include "train/config_text.h"
#include "train/config_warnings.h"
#include "train/stored_kinds.h"

/// What goes around any encoding ([positional.score], .randomized, .layers) in configurations.
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

TEST_CASE("wrappers: the keys go through text and back, with all their bits") {
  const std::vector<std::string> kinds = {test::any_kind(), std::string(built_kinds().front())};
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
  CHECK(contains(error_in_file("[positional]\nkind = \"logn\"\n"),
                 "; \"logn\" is a value of positional.score.scale"));
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
                 "man tapeline-config tells what can"));
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
