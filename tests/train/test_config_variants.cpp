#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "core/error.h"
#include "tests/support/kinds.h"
#include "train/config_loader.h"

using namespace tapeline;

namespace {

ResolvedConfig parsed(const std::string& text) { return parse_resolved(text, {}, "my.toml"); }

std::string error_of(const std::string& text) {
  try {
    parsed(text);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("the encodings of a comparison are variants of their name" * test::needs({"rope", "alibi"})) {
  const Config config = parsed("[compare]\nencodings = [\"rope\", \"alibi\"]\n").config;
  const std::vector<Variant> variants = all_variants(config);
  REQUIRE(variants.size() == 2);
  CHECK(variants[1].name == "alibi");
  CHECK(with_variant(config, variants[0]).positional.kind == "rope");
  CHECK(with_variant(config, variants[1]).positional.kind == "alibi");
}

TEST_CASE("a variant changes the keys it names and nothing else" * test::needs({"rope"})) {
  const ResolvedConfig resolved = parsed(R"(
[compare]
encodings = ["rope"]
[[compare.variant]]
name = "rope-short"
positional = { kind = "rope", rope.base = 500 }
[[compare.variant]]
name = "wide"
model.width = 256
[compare.variant.train]
length = 32
[[compare.evaluation]]
name = "windowed"
of = "rope-short"
positional = { keys.window = 64, keys.sinks = 4 }
)");
  const Config& config = resolved.config;
  CHECK(resolved.origins.at("compare.variant") == "my.toml:4");
  const std::vector<Variant> variants = all_variants(config);
  REQUIRE(variants.size() == 3);
  const Config short_base = with_variant(config, variants[1]);
  CHECK(short_base.positional.options.at("rope").number("base") == 500);
  CHECK(short_base.model.width == 128);
  const Config wide = with_variant(config, variants[2]);
  CHECK(wide.model.width == 256);
  CHECK(wide.train.length == 32);
  REQUIRE(config.compare.evaluations.size() == 1);
  const Config windowed = with_variant(short_base, config.compare.evaluations[0]);
  CHECK(windowed.positional.keys.window == 64);
  CHECK(windowed.positional.options.at("rope").number("base") == 500);
  const ResolvedConfig with_origin = with_variant(resolved, variants[2]);
  CHECK(with_origin.origins.at("model.width") == "variant \"wide\"");
}

TEST_CASE("variants given and encodings not: only the variants are trained" * test::needs({"none", "rope"})) {
  ConfigSources sources;
  sources.sets = {{"compare.variant", "[{name = \"a\", positional.kind = \"none\"}]", "--set"}};
  const ResolvedConfig alone = resolve_config(sources);
  REQUIRE(all_variants(alone.config).size() == 1);
  CHECK(all_variants(alone.config)[0].name == "a");
  sources.flags = {{"compare.encodings", "rope", "--encodings"}};
  CHECK(all_variants(resolve_config(sources).config).size() == 2);
}

TEST_CASE("what is wrong in a variant is found when the config is read, with its place" *
          test::needs({"rope"})) {
  const std::string head = "[[compare.variant]]\nname = \"a\"\n";
  CHECK(error_of(head + "model.widht = 3\n") ==
        "unknown key \"model.widht\" (my.toml:3); did you mean \"model.width\"?");
  CHECK(error_of(head + "model.width = \"x\"\n") ==
        "model.width (my.toml:3) is \"x\"; it must be a whole number");
  CHECK(error_of(head + "model.heads = 3\n").find("model.heads 3 (variant \"a\")") != std::string::npos);
  CHECK(error_of(head + "compare.seeds = 3\n").find("not the comparison") != std::string::npos);
  CHECK(error_of("[[compare.variant]]\nmodel.heads = 2\n").find("has no text \"name\"") != std::string::npos);
  CHECK(error_of(head + head).find("given twice") != std::string::npos);
  CHECK(error_of("[[compare.variant]]\nname = \"a/b\"\n").find("letters, digits") != std::string::npos);
  for (const char* name : {".", "..", ".hidden", "a b", "a=1", "a:b", "é"}) {
    const std::string text = fmt::format("[[compare.variant]]\nname = \"{}\"\n", name);
    CHECK_MESSAGE(error_of(text).find("becomes the name of a folder") != std::string::npos, name);
    const std::string evaluation =
        fmt::format("[[compare.evaluation]]\nof = \"rope\"\nname = \"{}\"\n", name);
    CHECK_MESSAGE(error_of(evaluation).find("becomes the name of a folder") != std::string::npos, name);
  }
  CHECK(error_of("[[compare.variant]]\nname = \"Aa0-1_2.5+x\"\n") == "no error");
  CHECK(error_of("[compare]\nvariant = 3\n").find("a list of tables") != std::string::npos);
  CHECK(error_of("[[compare.evaluation]]\nname = \"e\"\nof = \"nope\"\npositional.keys.window = 4\n")
            .find("no variant of that name") != std::string::npos);
  CHECK(error_of("[[compare.evaluation]]\nname = \"e\"\nof = \"rope\"\ntrain.steps = 3\n")
            .find("[positional] only") != std::string::npos);
}

TEST_CASE("an evaluation is of one variant, of several, or of all that have the keys that it changes" *
          test::needs({"rope", "alibi"})) {
  const ResolvedConfig resolved = parsed(R"(
[compare]
encodings = ["rope", "alibi"]
[[compare.variant]]
name = "rope-500"
positional = { kind = "rope", rope.base = 500 }
[[compare.evaluation]]
name = "one"
of = "rope"
positional.rope.base = 700
[[compare.evaluation]]
name = "some"
of = ["rope-500", "rope"]
positional = { rope = { scaling = "ntk", factor = "auto" } }
[[compare.evaluation]]
name = "fitting"
positional = { rope.scaling = "linear", keys.window = 9 }
[[compare.evaluation]]
name = "all"
positional = { keys.window = 9 }
)");
  const Config& config = resolved.config;
  const std::vector<Variant> variants = all_variants(config);
  const auto of = [&](std::size_t i) {
    return evaluated_variants(config, variants, config.compare.evaluations[i]);
  };
  REQUIRE(config.compare.evaluations.size() == 4);
  CHECK(of(0) == std::vector<std::string>{"rope"});
  CHECK(of(1) == std::vector<std::string>{"rope", "rope-500"});
  CHECK(of(2) == std::vector<std::string>{"rope", "rope-500"});
  CHECK(of(3) == std::vector<std::string>{"rope", "alibi", "rope-500"});
  CHECK(config.compare.evaluations[1].place == "my.toml:11");
  const Config ntk = with_evaluation(with_variant(config, variants[2]), config.compare.evaluations[1]);
  CHECK(ntk.positional.options.at("rope").text("scaling") == "ntk");
  CHECK(ntk.positional.options.at("rope").number("base") == 500);
  // Written and read again it is the same, wherever it stood.
  const Config again = parse_resolved(resolved_text(config), {}, "other.toml").config;
  CHECK(config_difference(config, again).empty());
  CHECK(again.compare.evaluations[1].of == std::vector<std::string>{"rope-500", "rope"});
  CHECK(again.compare.evaluations[3].of.empty());
}

TEST_CASE("what is wrong in an evaluation is refused with its place and the reason" *
          test::needs({"rope", "alibi"})) {
  const auto refused = [](const std::string& rest) {
    return error_of("[compare]\nencodings = [\"rope\", \"alibi\"]\n[[compare.evaluation]]\n" + rest);
  };
  const auto check = [&](const std::string& rest, const std::string& begin, const std::string& part = "") {
    const std::string error = refused(rest);
    CHECK_MESSAGE(error.starts_with(begin), error);
    CHECK_MESSAGE(error.find(part) != std::string::npos, error);
  };
  check("name = \"e\"\nof = \"rop\"\npositional.keys.window = 4\n",
        "evaluation \"e\" (my.toml:3) is of \"rop\"; there is no variant of that name to train",
        "did you mean \"rope\"?");
  check("name = \"e\"\nof = [\"rope\", \"rope\"]\npositional.keys.window = 4\n",
        "evaluation \"e\" (my.toml:3) is of \"rope\" twice");
  for (const char* of : {"3", "[]", "\"\"", "[\"rope\", 3]"})
    check(fmt::format("name = \"e\"\nof = {}\npositional.keys.window = 4\n", of),
          "compare.evaluation: of (my.toml:5) is ", "name of a variant or a list of names");
  check("name = \"e\"\npositional.learned.beyond = \"clamp\"\n",
        "evaluation \"e\" (my.toml:3) is of no variant", "none of rope, alibi has positional.learned.beyond");
  check("name = \"e\"\nof = \"rope\"\n", "evaluation \"e\" (my.toml:3) changes nothing");
  check("name = \"e\"\nof = \"rope\"\npositional.keys.window = 4\npositional.rope.fraction = 0.5\n",
        "evaluation \"e\" (my.toml:7) sets positional.rope.fraction to 0.5",
        "the weights were trained with it");
  check("name = \"e\"\npositional.score.scale = \"ssmax\"\n",
        "evaluation \"e\" (my.toml:5) sets positional.score.scale", "weights of its own");
  check("name = \"e\"\nof = [\"rope\", \"alibi\"]\npositional.rope.base = 500\n",
        "evaluation \"e\" (my.toml:6) sets positional.rope.base",
        "trained with alibi positions, which have no such key");
  check("name = \"e\"\nof = \"rope\"\npositional.rope.basis = 500\n",
        "unknown key \"positional.rope.basis\" (my.toml:6)");
  check("name = \"e\"\nof = \"rope\"\ntrain.steps = 3\n",
        "compare.evaluation \"e\" (my.toml:6) sets train.steps");
  check("name = \"alibi\"\npositional.keys.window = 4\n",
        "evaluation \"alibi\" (my.toml:3): that name is given twice");
  const std::string near = "name = \"e\"\npositional.keys.window = 4\n";
  check(near + "[[compare.evaluation]]\n" + near, "evaluation \"e\" (my.toml:6): that name is given twice");
}
