#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "experiments/claims/listing.h"
#include "experiments/compare/cell_record.h"
#include "experiments/table.h"
#include "tests/experiments/shell.h"
#include "tests/support/kinds.h"

namespace tapeline::test {
namespace {

const std::set<std::string> all_verdicts = {
    "true", "false", "true on average", "not at this scale", "needs a comparison", "not in this build"};

TEST_CASE("claims: the command lists, tells in full and prints JSON") {
  const Shell shell;
  const Ran list = shell("$tapeline claims");
  CAPTURE(list.err);
  REQUIRE(list.code == 0);
  CHECK(list.err.empty());
  CHECK(contains(list.out, "row-constant | "));
  CHECK(contains(list.out, std::to_string(claim_ids().size()) + " statements: "));
  CHECK(contains(list.out, " made by: tapeline compare --preset "));

  const auto json = nlohmann::json::parse(shell("$tapeline claims --json").out);
  REQUIRE(json.size() == claim_ids().size());
  std::map<std::string, int> verdicts;
  for (std::size_t n = 0; n < json.size(); ++n) {
    CHECK(json[n].at("id") == claim_ids()[n]);
    for (const char* field : {"id", "subject", "statement", "source", "verdict", "figure", "computed"}) {
      CAPTURE(field);
      CHECK_FALSE(json[n].at(field).get<std::string>().empty());
    }
    const auto verdict = json[n].at("verdict").get<std::string>();
    CHECK(all_verdicts.contains(verdict));
    CHECK((verdict != "needs a comparison" || json[n].contains("command")));
    ++verdicts[verdict];
  }
  // The counts are those of the list.
  CHECK(contains(list.out, std::to_string(verdicts["true"]) + " true"));
  CHECK(contains(list.out, std::to_string(verdicts["needs a comparison"]) + " need a comparison"));

  const Ran one = shell("$tapeline claims row-constant");
  CHECK(one.code == 0);
  CHECK(one.out.starts_with("row-constant: A number added to all scores of a row changes nothing\n\n"));
  CHECK(contains(one.out, "\n  verdict     true\n"));
  CHECK(contains(one.out, "\n  computed    Random causal attention of 64 rows"));
  const auto two = nlohmann::json::parse(shell("$tapeline claims window-keys row-constant --json").out);
  REQUIRE(two.size() == 2);
  CHECK(two[0].at("id") == "row-constant");
}

TEST_CASE("claims: wrong words are refused") {
  const Shell shell;
  check_refused(
      shell("$tapeline claims row-constnat"), 2,
      {"claims: there is no \"row-constnat\", neither a claim nor a folder; did you mean \"row-constant\"?"});
  check_refused(shell("$tapeline claims xyzzyxyzzy"), 2, {"tapeline claims lists what there is"});
  const Ran nowhere = shell("$tapeline claims no/such/folder");
  CHECK(nowhere.code != 0);
  CHECK(one_line(nowhere.err));
  CHECK(contains(nowhere.err, "no/such/folder"));
}

TEST_CASE("claims: the list fits the terminal") {
  std::vector<TestedClaim> tested;
  for (const ClaimGroup& group : claim_groups()) {
    for (const Claim& claim : group.claims) {
      tested.push_back({group.subject, &claim, {ClaimVerdict::needs_comparison, std::string(300, 'x')}});
    }
  }
  for (const std::size_t width : {60, 80, 132}) {
    std::istringstream lines(claims_text(tested, width) + claim_text(tested.front(), width));
    for (std::string line; std::getline(lines, line);) {
      CAPTURE(line);
      CHECK(display_width(line) <= width);
    }
  }
  CHECK(claim_counts_text({tested.front()}) == "1 statement: 1 needs a comparison");
  tested.resize(4);
  tested[0].finding.verdict = ClaimVerdict::is_true;
  tested[1].finding.verdict = ClaimVerdict::on_average;
  tested[2].finding.verdict = ClaimVerdict::not_in_build;
  CHECK(claim_counts_text(tested) ==
        "4 statements: 1 true, 1 true on average, 1 needs a comparison, 1 not in this build");
}

TEST_CASE("claims: the models of a comparison are asked" * needs({"rope", "alibi"})) {
  const Shell shell;
  // Enough steps that a model does better with more before it: others are not asked.
  const std::string more = "more='--set train.steps=400 optimizer.lr=0.01'\n";
  const Ran trained =
      shell(more + "$tapeline compare $small --encodings rope,alibi --seeds 2 --out runs/both --quiet $more");
  CAPTURE(trained.err);
  REQUIRE(trained.code == 0);
  const Ran ran = shell("$tapeline claims runs/both --json");
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  const auto json = nlohmann::json::parse(ran.out);
  const auto of = [&](const std::string& id) -> nlohmann::json {
    for (const auto& one : json) {
      if (one.at("id") == id) return one;
    }
    return {};
  };
  CHECK(of("rope-extrapolates").at("verdict") != "needs a comparison");
  CHECK(contains(of("rope-extrapolates").at("figure").get<std::string>(), "rope from 16 to 32: "));
  CHECK(contains(of("rope-extrapolates").at("figure").get<std::string>(), "2 seeds"));
  CHECK(contains(of("alibi-extrapolates").at("figure").get<std::string>(), "alibi from 16 to 32: "));
  CHECK(of("sinusoid-fails").at("verdict") != "true");
  // Of two comparisons each is asked for what it has.
  REQUIRE(shell(more + "$tapeline compare $small --encodings alibi --seeds 1 --out runs/other --quiet $more")
              .code == 0);
  const Ran both = shell("$tapeline claims runs/other runs/both rope-extrapolates alibi-extrapolates");
  CHECK(contains(both.out, "rope from 16 to 32: "));
  CHECK(contains(both.out, "(runs/both)\n"));
  CHECK(contains(both.out, "one seed; asked: at most × 1.02 (runs/other)\n"));
  // A share in which nothing is finished yet, before or behind one that has models.
  const std::string begin = "mkdir -p begun; cp runs/both/config.toml runs/both/comparison.json begun; ";
  const Ran first = shell(begin + "$tapeline claims begun runs/both rope-extrapolates");
  CHECK_MESSAGE(first.code == 0, first.err);
  CHECK(first.out == shell("$tapeline claims runs/both begun rope-extrapolates").out);
  CHECK(contains(first.out, "rope from 16 to 32: "));
  // Results that differ are no other comparison, but a fault to be told.
  REQUIRE(shell("mkdir -p spoilt; cp -r runs/both/. spoilt").code == 0);
  const std::filesystem::path cell = shell.folder() / "spoilt/cells/rope-seed0";
  CellRecord record = read_record(cell);
  record.results.front().result.scored_bytes += 1;
  write_record(cell, record);
  check_refused(shell("$tapeline claims runs/both spoilt rope-extrapolates"), 2,
                {"both hold rope, seed 0, and its results differ"});
  CHECK(shell("$tapeline claims --compare runs/both rope-extrapolates").out ==
        shell("$tapeline claims rope-extrapolates runs/both").out);
}

}  // namespace
}  // namespace tapeline::test
