#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "experiments/criteria/criterion.h"
#include "experiments/criteria/thresholds.h"
#include "tests/experiments/criteria_samples.h"
#include "tests/support/text.h"
#include "train/config_table.h"

namespace tapeline {
namespace {

using test::contains;
using test::CriteriaSample;
using test::judged_criterion;

/// "C1 holds, C2 fails, …".
std::string verdicts_of(const Comparison& comparison) {
  std::string text;
  for (const CriterionResult& result : judge(comparison))
    text += (text.empty() ? "" : ", ") + result.id + ' ' + verdict_text(result.verdict);
  return text;
}

CriteriaSample paper_sample() {
  CriteriaSample sample;
  sample.thresholds = "paper-1";
  sample.train_length = 128;
  sample.times = {1, 1.5, 2, 3, 4, 8, 16, 32};
  return sample;
}

TEST_CASE(
    "criteria: a comparison as the papers have it: all of its scale hold, and what was not asked is said "
    "so") {
  const Comparison toy = CriteriaSample().make();
  CHECK(verdicts_of(toy) ==
        "C1 holds, C2 holds, C3 holds, C4 holds, C5 holds, C6 holds, C7 holds, C8 holds, C9 holds, "
        "C10 not measured, C11 holds, C12 holds");
  CHECK(judged_criterion(toy, "C10").reason == "toy-1 does not ask for it");
  for (const CriterionResult& result : judge(toy)) {
    CHECK(result.version == "toy-1");
    CHECK(result.primary ==
          (result.id == "C1" || result.id == "C2" || result.id == "C4" || result.id == "C5"));
  }
  const CriterionResult improves = judged_criterion(toy, "C1");
  CHECK(improves.threshold == "R(8) < 1.00; R(16) ≤ 1.00");
  CHECK(improves.figure.starts_with("R(8) = 0.95"));
  CHECK(contains(improves.figure, "; tokens 0."));
  REQUIRE(improves.conditions.size() == 2);
  CHECK(improves.conditions[0].seeds == 3);
  CHECK(improves.conditions[0].blocks == 36);
  CHECK(improves.conditions[0].lower < improves.conditions[0].estimate);
  CHECK(improves.conditions[0].upper < 1);
}

TEST_CASE("criteria: the paper's scale, with models of several trained lengths beside it") {
  CHECK(verdicts_of(paper_sample().make()) ==
        "C1 holds, C2 holds, C3 holds, C4 holds, C5 holds, C6 holds, C7 holds, C8 holds, C9 holds, "
        "C10 not measured, C11 holds, C12 holds");
  CHECK(contains(judged_criterion(paper_sample().make(), "C10").reason, "there is no alibi trained at 64"));
  CHECK(judged_criterion(paper_sample().make(), "C4").threshold ==
        "R(8) ≥ 1.50; R_tail(2) ≥ 1.25; R rises from each of 1, 2, 4, 8, 16, 32 to the next");
}

TEST_CASE("criteria: smoke only warns: nothing is primary, one seed decides nothing but refusals") {
  CriteriaSample sample;
  sample.thresholds = "smoke-1";
  sample.seeds = 1;
  sample.times = {1, 2, 4, 8};
  const Comparison comparison = sample.make();
  CHECK(verdicts_of(comparison) ==
        "C1 inconclusive, C2 not measured, C3 not measured, C4 inconclusive, C5 holds, C6 not measured, C7 "
        "holds, "
        "C8 inconclusive, C9 inconclusive, C10 not measured, C11 not measured, C12 inconclusive");
  for (const CriterionResult& result : judge(comparison)) CHECK_FALSE(result.primary);
  const CriterionResult improves = judged_criterion(comparison, "C1");
  CHECK(contains(improves.reason, "one seed, no interval"));
  CHECK(contains(improves.figure, "(tokens "));  // of the text there is one
  CHECK(std::isnan(improves.conditions[0].lower));
  const CriterionResult residual = judged_criterion(comparison, "C3");
  CHECK(contains(residual.figure, "residual at 2L = "));
  CHECK(contains(residual.reason, "smoke-1 only prints it"));
  sample.seeds = 3;
  CHECK(judged_criterion(sample.make(), "C4").threshold == "R_sinusoidal(4)/R_alibi(4) ≥ 1.00");
  CHECK(judged_criterion(sample.make(), "C4").verdict == Verdict::holds);
}

TEST_CASE("criteria: those that the configuration names, by the set that it names") {
  Comparison comparison = CriteriaSample().make();
  comparison.config.compare.claims = {"C12", "C4"};
  CHECK(verdicts_of(comparison) == "C4 holds, C12 holds");
  comparison.config.compare.claims.clear();
  CHECK(judge(comparison).empty());
  CHECK(criteria_text(judge(comparison), 80).empty());
  comparison.config.compare.thresholds = "toy-0";
  CHECK_THROWS_AS(judge(comparison), ConfigError);
  // What the configuration can name is what there is.
  comparison.config.compare.claims = find_config_key("compare.claims")->choices;
  comparison.config.compare.thresholds = "toy-1";
  CHECK(judge(comparison).size() == comparison.config.compare.claims.size());
  for (const std::string& version : find_config_key("compare.thresholds")->choices)
    CHECK(thresholds(version).version == version);
}

TEST_CASE("criteria: primary are those that the configuration names") {
  Comparison comparison = CriteriaSample().make();
  const auto primary = [&] {
    std::vector<std::string> ids;
    for (const CriterionResult& result : judge(comparison)) {
      if (result.primary) ids.push_back(result.id);
    }
    return ids;
  };
  comparison.config.compare.primary = {"C12", "C6"};
  CHECK(primary() == std::vector<std::string>{"C6", "C12"});
  comparison.config.compare.thresholds = "smoke-1";  // no matter which thresholds
  CHECK(primary() == std::vector<std::string>{"C6", "C12"});
  comparison.config.compare.claims = {"C1", "C6"};
  CHECK(primary() == std::vector<std::string>{"C6"});
  comparison.config.compare.primary.clear();
  CHECK(primary().empty());
  CHECK(find_config_key("compare.primary")->choices == find_config_key("compare.claims")->choices);
}

TEST_CASE(
    "criteria: models are found by kind, the variant of that name first, settings of its own are another "
    "thing") {
  CriteriaSample sample;
  Comparison comparison = sample.make();
  comparison.config.compare.encodings = {"learned", "sinusoidal", "rope"};
  const auto alibi_variant = [](const std::string& name, bool own_settings) {
    Variant variant{.name = name, .of = {}, .changes = {{"positional.kind", "\"alibi\""}}};
    if (own_settings) variant.changes["positional.keys.window"] = "32";
    return variant;
  };
  const auto rename = [&](const std::string& name) {
    for (FinishedCell& cell : comparison.cells) {
      if (cell.kind == "alibi") cell.variant = name;
    }
  };
  rename("mine");
  comparison.config.compare.variants = {alibi_variant("mine", false)};
  CHECK(judged_criterion(comparison, "C1").verdict == Verdict::holds);
  comparison.config.compare.variants = {alibi_variant("mine", true)};
  CHECK_FALSE(judged_criterion(comparison, "C1").verdict);
  CHECK(judged_criterion(comparison, "C1").reason == "there is no alibi");

  // Two of them: the one that bears the name.
  sample.change = [](const std::string& kind, std::uint64_t, EvaluationResult& result) {
    if (kind == "alibi" && result.cell.length > 64) test::add_loss(result, 1);
  };
  const Comparison worse = sample.make();
  for (const FinishedCell& cell : worse.cells) {
    if (cell.kind == "alibi") comparison.cells.push_back(cell);
  }
  comparison.config.compare.variants = {alibi_variant("mine", false), alibi_variant("alibi", false)};
  CHECK(judged_criterion(comparison, "C1").verdict == Verdict::fails);
}

TEST_CASE("criteria: losses on different targets are not compared") {
  CriteriaSample sample;
  sample.change = [](const std::string&, std::uint64_t, EvaluationResult& result) {
    if (result.cell.length == 512 && !result.cell.subset) result.scored_tokens -= 7;
  };
  const CriterionResult improves = judged_criterion(sample.make(), "C1");
  CHECK_FALSE(improves.verdict);
  CHECK(contains(improves.reason, "scored on 36857 and on 36864 targets: not the same"));
}

TEST_CASE("criteria: claims.json holds every number, null for what there is not") {
  CriteriaSample sample;
  sample.kinds = {"alibi"};
  const auto json = nlohmann::json::parse(criteria_json(judge(sample.make())));
  REQUIRE(json.size() == 12);
  const nlohmann::json& improves = json.at(0);
  CHECK(improves.at("id") == "C1");
  CHECK(improves.at("version") == "toy-1");
  CHECK(improves.at("primary") == true);
  CHECK(improves.at("verdict") == "holds");
  CHECK(improves.at("threshold") == "R(8) < 1.00; R(16) ≤ 1.00");
  CHECK(improves.at("conditions").at(0).at("estimate").get<double>() ==
        doctest::Approx(std::exp(-0.0525)).epsilon(0.01));
  CHECK(improves.at("conditions").at(1).at("blocks") == 36);
  const nlohmann::json& fails = json.at(3);
  CHECK(fails.at("verdict").is_null());
  CHECK(fails.at("reason") == "there is no sinusoidal");
  CHECK(fails.at("conditions").at(0).at("upper").is_null());
}

TEST_CASE("criteria: under 8 blocks of text there is no interval over it, which is said once") {
  CriteriaSample sample;
  CHECK_FALSE(contains(criteria_text(judge(sample.make()), 0), "no interval over the text"));
  sample.change = [](const std::string&, std::uint64_t, EvaluationResult& result) {
    if (result.cell.subset && result.segments.size() > 4) result.segments.resize(4);
  };
  const Comparison comparison = sample.make();
  const CriterionResult flat = judged_criterion(comparison, "C2");
  CHECK(flat.verdict == Verdict::holds);
  CHECK(flat.conditions[0].blocks == 4);
  CHECK(std::isnan(flat.conditions[0].token_lower));
  CHECK_FALSE(contains(flat.figure, "tokens"));
  const std::string text = criteria_text(judge(comparison), 0);
  CHECK(contains(text, "\nC2, C3, C9: no interval over the text, of which 4 blocks were scored; it takes 8"));
  CHECK(contains(text, "evaluate.sliding_tokens"));
  CHECK(text.find("no interval over") == text.rfind("no interval over"));
}

TEST_CASE("criteria: the terminal's text fits, groups what has one reason, and marks the primary ones") {
  CriteriaSample sample;
  sample.seeds = 1;
  sample.kinds = {"rope", "alibi"};
  const std::string text = criteria_text(judge(sample.make()), 80);
  CHECK(contains(text, "Criteria, judged by toy-1\n"));
  CHECK(contains(text, "\nC1*   inconclusive  ALiBi improves with length in non-overlapping windows\n"));
  CHECK(contains(text, "\n                    asked: R(8) < 1.00; R(16) ≤ 1.00\n"));
  CHECK(contains(text, "C1, C2, C3, C5, C8, C9, C12: one seed, no interval.\n"));
  CHECK(contains(text, "Not measured: C4, C6, C11: there is no sinusoidal.\n"));
  CHECK(contains(text, "*: primary"));
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    CHECK(end - begin <= 84);  // bytes; a few letters have two or three
    begin = end + 1;
  }
  CHECK(contains(criteria_text(judge(CriteriaSample().make()), 0), "found: R(8) = "));
}

}  // namespace
}  // namespace tapeline
