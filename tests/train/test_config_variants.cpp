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
  CHECK(error_of("[[compare.evaluation]]\nname = \"e\"\nof = \"nope\"\n").find("no variant of that name") !=
        std::string::npos);
  CHECK(error_of("[[compare.evaluation]]\nname = \"e\"\nof = \"rope\"\ntrain.steps = 3\n")
            .find("[positional] only") != std::string::npos);
}
