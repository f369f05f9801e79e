#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/experiments/shell.h"
#include "tests/support/kinds.h"

using namespace tapeline::test;

/// Score scales, randomized positions and kinds by layer on the command line.

TEST_CASE("wrappers: a model with a pattern is trained, told, inspected, evaluated and written with" *
          needs({"rope", "none"})) {
  const Shell shell;
  const Ran trained = shell(
      "$tapeline train $small --set model.layers=2 --set positional.layers.pattern=rope,none "
      "--set positional.score.scale=ssmax --set positional.randomized.maximum=48 --out run");
  CAPTURE(trained.err);
  REQUIRE(trained.code == 0);
  CHECK(contains(trained.err, "rope/none positions"));
  const Ran seen = shell("$tapeline inspect run");
  CHECK(contains(
      seen.out,
      "[\"rope\", \"none\"] over the layers, trained at length 16, at positions drawn below 48, scores "
      "scaled by ssmax"));
  CHECK(contains(seen.out, "score_scale"));
  const Ran evaluated = shell("$tapeline evaluate run --lengths 16,48 --json");
  REQUIRE(evaluated.code == 0);
  const auto json = nlohmann::json::parse(evaluated.out);
  CHECK(json.at("kind") == "rope/none");
  CHECK(contains(json.at("positional_settings").get<std::string>(), "layers.pattern = [\"rope\", \"none\"]"));
  const Ran sampled =
      shell("$tapeline evaluate run --lengths 16,48 --positional randomized.evaluation=sample --quiet");
  CHECK(sampled.code == 0);
  const Ran refused = shell("$tapeline evaluate run --lengths 16,64 --quiet");
  CHECK(refused.code == 1);
  CHECK(contains(refused.err, "longest length 64"));  // a warning, before anything is measured
  CHECK(contains(refused.err, "--lengths names 64, refused by the model"));
  CHECK(contains(refused.out, "randomized positions end at row 48, length 64 is past them"));
  CHECK(shell("$tapeline generate run --prompt let --tokens 80 --quiet").code == 0);
  check_refused(shell("$tapeline evaluate run --positional score.scale=none"), 2,
                {"--positional sets positional.score.scale to \"none\"", "\"ssmax\" has weights of its own"});
  check_refused(shell("$tapeline evaluate run --positional layers.pattern=none,rope"), 2,
                {"--positional sets positional.layers.pattern", "cannot change any more"});
}

TEST_CASE("wrappers: log-n, a window and Llama 4's scale go around a model after its training") {
  const Shell shell;
  REQUIRE(shell("$tapeline train $small --out run --quiet").code == 0);
  const auto loss = [&](const std::string& changes) {
    const Ran ran =
        shell("$tapeline evaluate run --lengths 16 --protocol nonoverlapping --json --positional " + changes);
    CAPTURE(ran.err);
    REQUIRE(ran.code == 0);
    return nlohmann::json::parse(ran.out).at("results").at(0).at("nll").get<double>();
  };
  const double plain = loss("score.scale=none");
  CHECK(loss("score.scale=logn") == plain);  // clipped: 1 up to the trained length
  CHECK(loss("score.scale=logn --positional score.clip=false") != plain);
  CHECK(loss("score.scale=llama4 --positional score.floor_scale=2") != plain);
  const Ran idle = shell("$tapeline evaluate run --lengths 16 --positional score.scale=llama4");
  CHECK(idle.code == 0);
  CHECK(contains(idle.err, "positional.score.floor_scale is 8192 and the longest length 16"));
  check_refused(shell("$tapeline evaluate run --positional score.scale=ssmax"), 2,
                {"\"ssmax\" has weights of its own"});
  check_refused(shell("$tapeline evaluate run --positional score.scale=logm"), 2,
                {"positional.score.scale (--positional) is \"logm\"", "did you mean \"logn\"?"});
  check_refused(shell("$tapeline evaluate run --positional randomized.maximum=64"), 2,
                {"positional.randomized.maximum", "cannot change any more"});
}

TEST_CASE("wrappers: a comparison whose variants have patterns and scales" * needs({"rope", "none"})) {
  const Shell shell;
  shell.write("my.toml", R"(
[compare]
seeds = 1
[[compare.variant]]
name = "turns"
positional = {layers = {pattern = ["rope", "none"]}, score = {scale = "ssmax"}}
[[compare.variant]]
name = "plain"
positional.kind = "rope"
[[compare.evaluation]]
name = "logn"
of = "plain"
positional.score.scale = "logn"
)");
  const Ran ran = shell("$tapeline compare my.toml $small --set model.layers=2 --out all");
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  const std::string results = tapeline::read_file(shell.folder() / "all/results.csv");
  CHECK(contains(results, "\nturns,rope/none,"));
  CHECK(contains(results, "\nplain,rope,logn,"));
  check_refused(shell("$tapeline compare $small --set model.layers=2 --encodings rope,none --out other "
                      "--set positional.layers.pattern=rope,none"),
                2, {"compare: positional.layers.pattern is [\"rope\", \"none\"]", "[[compare.variant]]"});
}
