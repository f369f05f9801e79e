#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/error.h"
#include "tests/support/kinds.h"
#include "train/config_derived.h"
#include "train/config_loader.h"
#include "train/config_table.h"
#include "train/config_text.h"
#include "train/evaluate.h"
#include "train/preset.h"

using namespace tapeline;

TEST_CASE("the presets are those of the design") {
  struct Row {
    const char* name;
    Index layers, width, heads, length, tokens, steps;
    double lr;
    Index seeds;
  };
  for (const Row& row :
       {Row{"smoke", 2, 64, 4, 32, 1024, 250, 3e-3, 1}, Row{"toy", 4, 128, 4, 64, 2048, 700, 2e-3, 3},
        Row{"paper", 4, 256, 8, 128, 2048, 3200, 1e-3, 3},
        Row{"paper-grid", 4, 256, 8, 128, 2048, 3200, 1e-3, 1},
        Row{"scaling", 4, 128, 4, 64, 2048, 700, 2e-3, 3}}) {
    if (std::string(row.name) == "scaling" && !test::is_built("rope")) continue;
    if (std::string(row.name) == "paper-grid" && test::built_of({"alibi", "sinusoidal"}).size() < 2) continue;
    CAPTURE(row.name);
    ConfigSources sources;
    sources.preset = row.name;
    const Config config = resolve_config(sources).config;
    CHECK(config.model.layers == row.layers);
    CHECK(config.model.width == row.width);
    CHECK(config.model.heads == row.heads);
    CHECK(config.train.length == row.length);
    CHECK(config.train.tokens_per_step == row.tokens);
    CHECK(config.train.steps == row.steps);
    CHECK(config.optimizer.lr == row.lr);
    CHECK(config.compare.seeds == row.seeds);
    CHECK(evaluation_lengths(config).front() == row.length);
    CHECK(preset(row.name).fewest_steps < row.steps);
    CHECK(config.compare.sweep.empty());
    CHECK(config.compare.primary == (std::string(row.name) == "smoke"
                                         ? std::vector<std::string>()
                                         : std::vector<std::string>{"C1", "C2", "C4", "C5"}));
    // Blocks of text for an interval over it; the grid's longest windows leave it fewer.
    if (std::string(row.name) != "paper-grid")
      CHECK(config.evaluate.sliding_tokens / longest_sliding_length(config) >= 8);
  }
  CHECK(resolve_config({}).origins.at("model.width") == "preset toy");
  ConfigSources wrong;
  wrong.preset = "papr";
  CHECK_THROWS_WITH_AS(
      resolve_config(wrong),
      "there is no preset \"papr\"; there are smoke, toy, paper, paper-grid, scaling; did you mean "
      "\"paper\"?",
      ConfigError);
}

TEST_CASE("preset paper-grid: four trained lengths of two encodings, the same tokens a step and targets" *
          test::needs({"alibi", "sinusoidal"})) {
  ConfigSources sources;
  sources.preset = "paper-grid";
  const ResolvedConfig resolved = resolve_config(sources);
  CHECK(resolved.config.compare.encodings.empty());
  CHECK(resolved.origins.at("compare.variant") == "preset paper-grid");
  const std::vector<Variant> variants = all_variants(resolved.config);
  REQUIRE(variants.size() == 8);
  for (std::size_t i = 0; i < variants.size(); ++i) {
    CAPTURE(i);
    const Config config = with_variant(resolved.config, variants[i]);
    const Index length = 64 << (i % 4);
    CHECK(config.positional.kind == (i < 4 ? "alibi" : "sinusoidal"));
    CHECK(variants[i].name == config.positional.kind + "-" + std::to_string(length));
    CHECK(config.train.length == length);
    CHECK(config.train.tokens_per_step == 2048);
    const std::vector<Index> lengths = evaluation_lengths(config);
    CHECK(lengths.front() == length);
    CHECK(lengths.back() == 4096);
    for (std::size_t k = 1; k < lengths.size(); ++k) CHECK(lengths[k] == 2 * lengths[k - 1]);
  }
  // What stands in config.toml is the same comparison.
  CHECK(config_difference(parse_resolved(resolved_text(resolved.config), {}, "there").config, resolved.config)
            .empty());
}

TEST_CASE("preset scaling: one model, every scaling that needs no search an evaluation of its own" *
          test::needs({"rope"})) {
  ConfigSources sources;
  sources.preset = "scaling";
  const ResolvedConfig resolved = resolve_config(sources);
  CHECK(resolved.config.compare.encodings == std::vector<std::string>{"rope"});
  std::vector<std::string> expected;
  for (const std::string& choice : find_config_key("positional.rope.scaling")->choices) {
    if (choice != "none" && choice != "longrope") expected.push_back(choice);
  }
  std::vector<std::string> found;
  for (const Variant& evaluation : resolved.config.compare.evaluations) {
    found.push_back(evaluation.name);
    CHECK(evaluation.changes.at("positional.rope.scaling") == toml_string(evaluation.name));
  }
  CHECK(found == expected);
  CHECK(evaluation_lengths(resolved.config) == std::vector<Index>{64, 128, 256, 512});
  // A file beside it may replace them.
  sources.sets = {{"compare.evaluation", "[{name = \"near\", positional.keys.window = 8}]", "--set"}};
  CHECK(resolve_config(sources).config.compare.evaluations.size() == 1);
}
