#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "core/index.h"
#include "tests/experiments/shell.h"
#include "tests/support/kinds.h"

namespace tapeline::test {
namespace {

/// The scored tokens of each line, by protocol and length: "sliding 32".
std::map<std::string, Index> scored_by_line(const Ran& ran) {
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  std::map<std::string, Index> scored;
  const auto json = nlohmann::json::parse(ran.out);
  for (const auto& result : json.at("results")) {
    const std::string line =
        fmt::format("{} {}", result.at("protocol").get<std::string>(), result.at("eval_length").get<Index>());
    scored[line] = result.at("scored_tokens");
  }
  return scored;
}

TEST_CASE("evaluate: a length named for sliding alone that it does not reach is refused, with the way out" *
          needs({"alibi"})) {
  const Shell shell;
  REQUIRE(shell("$tapeline train $small --set positional.kind=alibi --out run --quiet").code == 0);
  const std::string sliding = "$tapeline evaluate run --quiet --json --protocol sliding ";
  check_refused(shell(sliding + "--lengths 16x"), 2,
                {"--lengths 256 with sliding windows alone", "128", "\"8x\"", "--sliding-up-to 256"});
  check_refused(shell(sliding + "--lengths 1x,16x,20x"), 2, {"--lengths 256", "--sliding-up-to 320"});
  CHECK(scored_by_line(shell(sliding + "--lengths 16x --sliding-up-to 16x --text text.txt")).size() == 1);
  // Side by side they are there, and nothing is lost.
  const auto both =
      scored_by_line(shell("$tapeline evaluate run --quiet --json --text text.txt --lengths 1x,16x"));
  CHECK(both.contains("nonoverlapping 256"));
  CHECK_FALSE(both.contains("sliding 256"));
  // Configured lengths are not named; only when none is left there is nothing to do.
  CHECK(scored_by_line(shell(sliding + "--sliding-up-to 1x")).size() == 1);
  check_refused(shell(sliding + "--sliding-up-to 8"), 2, {"nothing to measure", "--sliding-up-to 16"});
}

TEST_CASE("evaluate: a stride matters only where sliding is asked for" * needs({"alibi"})) {
  const Shell shell;
  REQUIRE(shell("$tapeline train $small --set positional.kind=alibi --out run --quiet").code == 0);
  const std::string strided = "$tapeline evaluate run --quiet --json --lengths 8,32 --stride 16 ";
  CHECK(scored_by_line(shell(strided + "--protocol nonoverlapping")).size() == 2);
  check_refused(shell(strided), 2, {"--stride 16 is above the length 8"});
  check_refused(shell(strided + "--protocol sliding"), 2, {"--stride 16 is above the length 8"});
}

TEST_CASE("evaluate: sliding scores as many targets as it is told, whatever the others score" *
          needs({"alibi"})) {
  const Shell shell;
  REQUIRE(shell("$tapeline train $small --set positional.kind=alibi --out run --quiet").code == 0);
  for (const std::string text : {"", "--text text.txt "}) {
    for (const std::string all : {"", "--scored all "}) {
      CAPTURE(text + all);
      const std::string command = "$tapeline evaluate run --quiet --json --lengths 1x,2x " + text + all;
      const auto usual = scored_by_line(shell(command));
      CHECK(usual.at("sliding 32") == 64);
      CHECK(usual.at("nonoverlapping_subset 32") == 64);
      CHECK(usual.at("nonoverlapping 32") > 64);
      const auto more = scored_by_line(shell(command + "--sliding-tokens 128"));
      CHECK(more.at("sliding 32") == 128);
      CHECK(more.at("nonoverlapping 32") == usual.at("nonoverlapping 32"));
      const auto most = scored_by_line(shell(command + "--sliding-tokens 1000000"));
      CHECK(most.at("sliding 32") == usual.at("nonoverlapping 32"));
    }
  }
  const std::string help = shell("$tapeline evaluate --help").out;
  CHECK(contains(help, "--sliding-tokens N"));
}

}  // namespace
}  // namespace tapeline::test
