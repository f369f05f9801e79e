#include <doctest/doctest.h>

#include <string>

#include "experiments/compare/speeds.h"
#include "tests/experiments/claim_checks.h"
#include "tests/experiments/criteria_samples.h"
#include "tests/support/text.h"

/// Speeds are compared only where they were measured alike.
namespace tapeline::test {
namespace {

const char* const faster = "alibi-trains-faster";

ClaimFinding speed_claim(const Comparison& comparison) { return test_claim(find_claim(faster), &comparison); }

TEST_CASE("C11 and the claims of speed: models of different shares are not compared") {
  Comparison comparison = CriteriaSample().make();
  REQUIRE(judged_criterion(comparison, "C11").verdict == Verdict::holds);
  REQUIRE(contains(speed_claim(comparison).figure, "alibi over sinusoidal: 0.98"));

  // Dealt out by variant: sinusoidal on a machine of its own.
  for (FinishedCell& cell : comparison.cells) cell.share = cell.kind == "sinusoidal" ? 1 : 0;
  const CriterionResult apart = judged_criterion(comparison, "C11");
  CHECK_FALSE(apart.verdict.has_value());
  CHECK(apart.figure.empty());
  CHECK(contains(apart.reason, "speeds are of different shares"));
  check_finding(speed_claim(comparison), ClaimVerdict::needs_comparison, "speeds are of different shares");

  // Whole seeds in a share: every pair is of one machine.
  for (FinishedCell& cell : comparison.cells) cell.share = static_cast<Index>(cell.seed);
  CHECK(judged_criterion(comparison, "C11").verdict == Verdict::holds);
  CHECK(contains(speed_claim(comparison).figure, "3 seeds"));

  // One seed divided: it is left out, and that is told.
  for (FinishedCell& cell : comparison.cells) {
    if (cell.seed == 1 && cell.kind == "sinusoidal") cell.share = 7;
  }
  const CriterionResult two = judged_criterion(comparison, "C11");
  REQUIRE(!two.conditions.empty());
  CHECK(two.conditions.front().seeds == 2);
  CHECK(contains(two.reason, "different shares or numbers of threads are left out"));
  CHECK(contains(speed_claim(comparison).figure, "2 seeds"));
}

TEST_CASE("C11 and the claims of speed: neither are models of different numbers of threads") {
  Comparison comparison = CriteriaSample().make();
  for (FinishedCell& cell : comparison.cells) cell.record.threads = 2;
  REQUIRE(judged_criterion(comparison, "C11").verdict == Verdict::holds);
  // Gone on with on other threads between the models of a seed, and between the seeds.
  for (const bool by_kind : {true, false}) {
    CAPTURE(by_kind);
    for (FinishedCell& cell : comparison.cells)
      cell.record.threads = (by_kind ? cell.kind == "sinusoidal" : cell.seed == 2) ? 1 : 2;
    CHECK(contains(judged_criterion(comparison, "C11").reason, speeds_apart));
    CHECK_FALSE(judged_criterion(comparison, "C11").verdict.has_value());
    CHECK(contains(speed_claim(comparison).figure, speeds_apart));
  }
}

}  // namespace
}  // namespace tapeline::test
