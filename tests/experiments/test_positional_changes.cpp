#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "core/index.h"
#include "tests/experiments/shell.h"
#include "tests/support/kinds.h"

using namespace tapeline;
using namespace tapeline::test;

namespace {

/// nats a token by length, non-overlapping.
std::map<Index, double> losses_by_length(const Shell& shell, const std::string& words) {
  const Ran ran = shell("$tapeline evaluate run --quiet --json --protocol nonoverlapping " + words);
  CAPTURE(words);
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  std::map<Index, double> found;
  const auto json = nlohmann::json::parse(ran.out);
  for (const auto& result : json.at("results")) {
    found[result.at("eval_length")] = result.at("nll");
  }
  return found;
}

}  // namespace

TEST_CASE("--positional: a trained rope model under other scalings, each length with a factor of its own" *
          needs({"rope"})) {
  const Shell shell;
  REQUIRE(shell("$tapeline train $small --set model.width=32 --out run --quiet").code == 0);
  const std::string lengths = "--lengths 1x,2x,4x ";
  const auto plain = losses_by_length(shell, lengths);
  const auto ntk = losses_by_length(shell, lengths + "--positional rope.scaling=ntk rope.factor=auto");
  CHECK(ntk.at(16) == plain.at(16));
  CHECK(ntk.at(32) != plain.at(32));
  CHECK(ntk.at(64) != plain.at(64));
  const auto twice =
      losses_by_length(shell, lengths + "--positional rope.scaling=ntk --positional rope.factor=2");
  const auto four = losses_by_length(shell, lengths + "--positional rope.scaling=ntk rope.factor=4");
  CHECK(twice.at(32) == ntk.at(32));
  CHECK(four.at(64) == ntk.at(64));
  CHECK(four.at(32) != ntk.at(32));
  CHECK(losses_by_length(shell, lengths + "--positional rope.scaling=dynamic_ntk") == ntk);

  const Ran told =
      shell("$tapeline evaluate --positional=rope.scaling=yarn keys.window=8 keys.sinks=2 run --lengths 2x");
  CHECK(told.code == 0);
  CHECK(contains(told.out,
                 "changed after training: positional.keys.window 0, now 8; positional.keys.sinks 0, now 2; "
                 "positional.rope.scaling \"none\", now \"yarn\"\n"));
  const auto json = nlohmann::json::parse(
      shell("$tapeline evaluate run --lengths 1x --json --quiet --positional rope.base=500").out);
  CHECK(json.at("positional_changes") ==
        nlohmann::json::parse(R"([{"key": "positional.rope.base", "trained": "10000.0", "now": "500.0"}])"));
  CHECK(nlohmann::json::parse(shell("$tapeline evaluate run --lengths 1x --json --quiet").out)
            .at("positional_changes")
            .empty());

  shell.write("scaling.toml", "[positional.rope]\nscaling = \"ntk\"\nfactor = 4\n");
  CHECK(losses_by_length(shell, lengths + "--positional scaling.toml") == four);
  shell.write("other.toml", "[train]\nlength = 32\n");
  check_refused(shell("$tapeline evaluate run --positional other.toml"), 2,
                {"train.length", "cannot change"});

  const std::string write =
      "$tapeline generate run --prompt 'let ' --tokens 60 --temperature 0 --json --quiet ";
  const auto scaled = nlohmann::json::parse(shell(write + "--positional rope.scaling=dynamic_ntk").out);
  CHECK(scaled.at("positional_changes").size() == 1);
  CHECK(scaled.at("tokens").size() == 60);
  CHECK(nlohmann::json::parse(shell(write).out).at("positional_changes").empty());
}

TEST_CASE("--positional: what makes no sense is refused with the reason" * needs({"rope", "alibi"})) {
  const Shell shell;
  REQUIRE(shell("$tapeline train $small --set train.steps=1 --out run --quiet").code == 0);
  const auto refused = [&](const std::string& words, const std::vector<std::string>& parts) {
    check_refused(shell("$tapeline evaluate run --positional " + words), 2, parts);
    check_refused(shell("$tapeline generate run --prompt let --positional " + words), 2, parts);
  };
  refused("rope.pairing=interleaved", {"positional.rope.pairing", "the weights were trained with it"});
  refused("alibi.learned=true", {"was trained with rope positions"});
  refused("rope.scaling=twice", {"positional.rope.scaling", "linear, ntk"});
  refused("rope.factor=2", {"positional.rope.factor", "\"none\""});
  refused("rope.scaling=linear rope.factor=0.5", {"positional.rope.factor = 0.5"});
  refused("rope.scaling=longrope rope.long_factors=[1,2]", {"long_factors has 2 numbers", "4 pairs"});
  refused("rope.scaling=longrope", {"tapeline longrope"});
  refused("missing.toml", {"missing.toml"});
}
