#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "experiments/report/sections/section.h"
#include "tests/experiments/report_samples.h"
#include "tests/support/text.h"

/// The verdicts on the page.
namespace tapeline {
namespace {

using test::contains;
using test::data_of;

std::vector<CriterionResult> sample_criteria() {
  std::vector<CriterionResult> criteria(3);
  criteria[0] = {
      "C1",          "toy-1", "ALiBi improves with length", true, Verdict::holds, "R(8) = 0.98 ±0.01",
      "R(8) < 1.00", ""};
  criteria[1] = {"C5",
                 "toy-1",
                 "RoPE stands between <them>",
                 true,
                 Verdict::inconclusive,
                 "R = 1.04 ±0.03",
                 "R ≥ 1.05",
                 "the interval reaches over the threshold"};
  criteria[2] = {"C10", "toy-1",        "short trained, long tested", false, std::nullopt,
                 "",    "ratio ≤ 1.05", "no model was trained at 128"};
  return criteria;
}

TEST_CASE("verdicts: counted, each with what was asked and found, those not measured folded away") {
  const Comparison comparison = test::sample_comparison(3);
  CHECK(verdict_section(data_of(comparison)).body.empty());
  const std::string body = verdict_section(data_of(comparison, sample_criteria())).body;
  CHECK(contains(body, "Of 2 criteria measured here 1 holds, 0 fail and 1 is inconclusive."));
  CHECK(contains(body, "Primary, declared before the run: C1 holds and C5 inconclusive."));
  CHECK(contains(body, "<p class=\"verdict holds\">holds</p>\n<div><p><strong>C1</strong> ALiBi improves"));
  CHECK(contains(body, "Asked: R(8) &lt; 1.00. Found: R(8) = 0.98 ±0.01."));
  CHECK(contains(body, "the interval reaches over the threshold."));
  CHECK(contains(body, "between &lt;them&gt;"));
  CHECK(body.find("<details><summary>1 not measured here") < body.find("C10"));
  CHECK(contains(body, "no model was trained at 128."));
  CHECK(contains(body, "R(k): perplexity per byte in windows of k times the trained length L over that"));
  CHECK(contains(body, "3 seeds"));
  CHECK(!contains(body, "numbers</summary>"));
  CHECK(contains(verdict_section(data_of(test::sample_comparison(1), sample_criteria())).body,
                 "One seed: there is no interval over seeds"));
}

TEST_CASE("verdicts: what does not hold is told what to make of") {
  std::vector<CriterionResult> criteria = sample_criteria();
  criteria[1].otherwise = "look at C12";
  const std::string body = verdict_section(data_of(test::sample_comparison(3), criteria)).body;
  CHECK(contains(body, "the interval reaches over the threshold. What to make of it: look at C12."));
  CHECK(body.find("What to make of it") == body.rfind("What to make of it"));
}

TEST_CASE("what was compared: every encoding once, with its name, title and paper") {
  const std::string body = encodings_section(data_of(test::sample_comparison(3))).body;
  CHECK(contains(body, "<strong>rope</strong>: rotary position embedding"));
  CHECK(contains(body, "<strong>learned</strong>: "));
  CHECK(contains(body, "2104.09864"));
  CHECK(!contains(body, "alibi"));
}

TEST_CASE("verdicts: a criterion of several numbers has each with its own verdict, folded away") {
  std::vector<CriterionResult> criteria = sample_criteria();
  criteria[0].conditions.resize(3);
  criteria[0].conditions[0].asked = "R(8) < 1.00";
  criteria[0].conditions[0].found = "R(8) = 0.980 (0.970 to 0.990)";
  criteria[0].conditions[0].verdict = Verdict::holds;
  criteria[0].conditions[1].found = "R(16) = 0.979";
  criteria[0].conditions[2].asked = "R(32) < 1.00";
  criteria[0].conditions[2].reason = "no length 32L was evaluated";
  criteria[1].conditions.resize(1);
  const std::string body = verdict_section(data_of(test::sample_comparison(3), criteria)).body;
  CHECK(contains(body, "<details><summary>its 3 numbers</summary>"));
  CHECK(contains(body,
                 "<li><span class=\"verdict holds\">holds</span> R(8) = 0.980 (0.970 to 0.990); asked: R(8) "
                 "&lt; 1.00</li>"));
  CHECK(contains(body, "not judged</span> R(16) = 0.979</li>"));
  CHECK(contains(body, "not measured</span> R(32) &lt; 1.00; no length 32L was evaluated</li>"));
  CHECK(!contains(body, "its 1 numbers"));
}

TEST_CASE("verdicts: what was found and is not judged is neither called unmeasured nor folded away with it") {
  std::vector<CriterionResult> criteria = sample_criteria();
  criteria[1].verdict.reset();  // a figure, and no verdict on it
  criteria[1].reason = "the threshold is of another text";
  const std::string body = verdict_section(data_of(test::sample_comparison(3), criteria)).body;
  CHECK(
      contains(body, "Of 2 criteria measured here 1 holds, 0 fail and 0 are inconclusive; 1 is not judged."));
  CHECK(contains(body, "C1 holds and C5 was not judged."));
  CHECK(contains(body, "not judged</p>\n<div><p><strong>C5</strong>"));
  CHECK(body.find("C5</strong>") < body.find("<details><summary>1 not measured here"));
  CHECK(body.find("not measured</p>\n<div><p><strong>C10") != body.npos);
  criteria[0].verdict.reset();
  CHECK(contains(verdict_section(data_of(test::sample_comparison(3), criteria)).body,
                 "0 are inconclusive; 2 are not judged."));
}

}  // namespace
}  // namespace tapeline
