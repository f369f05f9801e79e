#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "experiments/compare/layout.h"
#include "experiments/compare/plan.h"
#include "tests/support/kinds.h"

namespace tapeline {
namespace {

ResolvedConfig resolved(std::vector<Assignment> sets) {
  ConfigSources sources;
  sources.preset = "smoke";
  sources.sets = std::move(sets);
  return resolve_config(sources);
}

TEST_CASE("a comparison is planned seed by seed, every variant once a seed" *
          test::needs({"rope", "alibi"})) {
  const std::vector<Cell> cells =
      plan_cells(resolved({{"compare.encodings", "[\"rope\", \"alibi\"]", "--set"},
                           {"compare.seeds", "2", "--set"},
                           {"train.seed", "7", "--set"}}));
  REQUIRE(cells.size() == 4);
  CHECK(cells[0].folder_name() == "rope-seed7");
  CHECK(cells[1].folder_name() == "alibi-seed7");
  CHECK(cells[2].folder_name() == "rope-seed8");
  CHECK(cells[3].label() == "alibi, seed 8");
  CHECK(cells[3].config.config.positional.kind == "alibi");
  CHECK(cells[3].config.config.train.seed == 8);
  REQUIRE(cells[0].evaluations.size() == 1);
  CHECK(cells[0].evaluations[0].name == "trained");
}

TEST_CASE("a plan that cannot be is refused by name before anything runs" * test::needs({"rope", "alibi"})) {
  const auto refusal = [](const Variant& variant, const Variant& evaluation) {
    ResolvedConfig config = resolved({{"compare.encodings", "[\"rope\"]", "--set"}});
    if (!variant.name.empty()) config.config.compare.variants.push_back(variant);
    if (!evaluation.name.empty()) config.config.compare.evaluations.push_back(evaluation);
    try {
      plan_cells(config);
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const Variant fast{"fast", {}, {{"optimizer.lr", "0.01"}}};
  CHECK(refusal(fast, {}).empty());
  CHECK(refusal({"seven", {}, {{"train.seed", "7"}}}, {}).find("\"seven\" sets train.seed") !=
        std::string::npos);
  CHECK(refusal({}, {"windowed", {"rope"}, {{"positional.keys.window", "8"}}}).empty());
  CHECK(refusal({}, {"trained", {"rope"}, {}}).find("name of the model as it was trained") !=
        std::string::npos);
  CHECK(refusal({}, {"other", {"rope"}, {{"model.width", "32"}}}).find("sets model.width") !=
        std::string::npos);
  CHECK(refusal({}, {"other", {"rope"}, {{"positional.kind", "\"alibi\""}}}).find("positional.kind") !=
        std::string::npos);
}

TEST_CASE("a variant cannot choose its own targets, nor a comparison do without non-overlapping windows") {
  const auto refusal = [](const std::vector<Assignment>& more) {
    std::vector<Assignment> sets = {{"compare.encodings", "[]", "--set"},
                                    {"compare.variant", "[{name = \"a\"}, {name = \"b\"}]", "--set"}};
    sets.insert(sets.end(), more.begin(), more.end());
    try {
      lay_out(resolved(sets), 4 << 20, 256);
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto variant = [](const std::string& changes) {
    return std::vector<Assignment>{
        {"compare.variant", "[{name = \"a\"}, {name = \"b\", " + changes + "}]", "--set"}};
  };
  CHECK(refusal({}).empty());
  CHECK(refusal(variant("evaluate.lengths = [\"1x\"]")).empty());
  CHECK(refusal({{"evaluate.sliding_tokens", "2048", "--set"}}).empty());
  for (const auto& [key, value] :
       {std::pair{"evaluate.sliding_tokens", "2048"}, {"evaluate.scored", "\"all\""}}) {
    const std::string why = refusal(variant(fmt::format("{} = {}", key, value)));
    CHECK_MESSAGE(why.find(fmt::format("variant \"b\" sets {}; all variants are scored on the same targets",
                                       key)) != std::string::npos,
                  why);
  }
  for (const std::string& why : {refusal({{"evaluate.protocols", "[\"sliding\"]", "--set"}}),
                                 refusal(variant("evaluate.protocols = [\"sliding\"]"))}) {
    CHECK_MESSAGE(why.find("is [\"sliding\"]") != std::string::npos, why);
    CHECK_MESSAGE(why.find("add \"nonoverlapping\"") != std::string::npos, why);
  }
}

TEST_CASE(
    "evaluations of a plan: of one variant, of a list, of all that have the keys; after the trained one" *
    test::needs({"rope", "alibi", "learned"})) {
  const std::vector<Cell> cells = plan_cells(resolved(
      {{"compare.encodings", "[\"rope\", \"alibi\", \"learned\"]", "--set"},
       {"compare.seeds", "2", "--set"},
       {"compare.evaluation",
        "[{name = \"ntk\", positional.rope.scaling = \"ntk\"}, {name = \"near\", positional.keys.window = 8},"
        " {name = \"nearer\", of = [\"learned\", \"rope\"], positional.keys.window = 4},"
        " {name = \"clamped\", of = \"learned\", positional.learned.beyond = \"clamp\"}]",
        "--set"}}));
  REQUIRE(cells.size() == 6);
  const auto names = [](const Cell& cell) {
    std::vector<std::string> all;
    for (const CellEvaluation& evaluation : cell.evaluations) all.push_back(evaluation.name);
    return all;
  };
  for (const std::size_t seed : {0, 1}) {
    CHECK(names(cells[3 * seed]) == std::vector<std::string>{"trained", "ntk", "near", "nearer"});
    CHECK(names(cells[3 * seed + 1]) == std::vector<std::string>{"trained", "near"});
    CHECK(names(cells[3 * seed + 2]) == std::vector<std::string>{"trained", "near", "nearer", "clamped"});
    const Config& ntk = cells[3 * seed].evaluations[1].config;
    CHECK(ntk.positional.options.at("rope").text("scaling") == "ntk");
    CHECK(ntk.train.seed == seed);
    CHECK_FALSE(
        cells[3 * seed].evaluations[0].config.positional.options.contains("rope"));  // as set: nothing
  }
  // What is trained is the same with and without them: its folder does not know of evaluations.
  CHECK(cells[0].config.config.compare.evaluations.empty());
  CHECK(series_name("rope", "trained") == "rope");
  CHECK(series_name("rope", "ntk") == "rope, ntk");
}

}  // namespace
}  // namespace tapeline
