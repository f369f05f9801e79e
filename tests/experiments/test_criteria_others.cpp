#include <doctest/doctest.h>

#include "experiments/criteria/criterion.h"
#include "tests/experiments/spoilt_criteria.h"
#include "tests/support/text.h"

// Each criterion: what makes it fail, what leaves it open, what it cannot do without, a seed that diverged.
namespace tapeline::test {
namespace {

TEST_CASE("C7: the learned table refuses everything past L, in every seed, with one seed too") {
  CriteriaSample sample;
  sample.seeds = 1;
  CHECK(judged_criterion(sample.make(), "C7").figure == "refused at 128, 256, 512, 1024 (1 seed)");
  CHECK(verdict_of(sample.make(), "C7") == Verdict::holds);
  sample.change = [](const std::string& kind, std::uint64_t, EvaluationResult& result) {
    if (kind == "learned" && result.cell.length == 256 && result.cell.protocol == sliding_windows)
      result.status = "ok";
  };
  const CriterionResult evaluated = judged_criterion(sample.make(), "C7");
  CHECK(evaluated.verdict == Verdict::fails);
  CHECK(evaluated.figure == "not refused: 256 (sliding, seed 0)");
  CHECK(judged_criterion(without("learned"), "C7").reason == "there is no learned");
  CriteriaSample short_only;
  short_only.times = {1};
  CHECK(judged_criterion(short_only.make(), "C7").reason == "no length past 64 was evaluated");
  const CriterionResult diverged = judged_criterion(diverged_seed("learned"), "C7");
  CHECK(diverged.verdict == Verdict::holds);
  CHECK(diverged.conditions[0].seeds == 2);
  CHECK(diverged.reason == "learned, seed 1, diverged in training");
}

TEST_CASE("C8: no two losses at L differ by more than 0.05 nats") {
  const CriterionResult found = judged_criterion(CriteriaSample().make(), "C8");
  CHECK(found.threshold == "any two at L differ by at most 0.05 nats");
  CHECK(found.conditions.size() == 6);
  const CriterionResult worse_one =
      judged_criterion(spoilt_by({"learned", plain_windows, 64, {0.2, 0.2, 0.2}}), "C8");
  CHECK(worse_one.verdict == Verdict::fails);
  CHECK(worse_one.figure.starts_with("learned - rope = 0.2"));
  CHECK(contains(worse_one.otherwise, "encodings differ in how fast they learn"));
  CHECK(found.otherwise.empty());
  CHECK(verdict_of(spoilt_by({"learned", plain_windows, 64, {0, 0.05, 0.1}}), "C8") == Verdict::inconclusive);
  CriteriaSample alone;
  alone.kinds = {"alibi"};
  CHECK(contains(judged_criterion(alone.make(), "C8").reason, "only one of"));
  CHECK(judged_criterion(diverged_seed("rope", 64), "C8").verdict == Verdict::holds);
  CHECK(contains(judged_criterion(diverged_seed("rope", 64), "C8").reason, "rope, seed 1, diverged"));
}

TEST_CASE("C9: the early-token gap of every encoding, and how far apart any two are") {
  const CriterionResult found = judged_criterion(CriteriaSample().make(), "C9");
  CHECK(found.threshold == "g in 0.03 to 0.15 nats; any two differ by at most 0.02 nats");
  CHECK(found.conditions.size() == 4 + 6);
  CHECK(found.conditions[0].estimate == doctest::Approx(0.06).epsilon(0.1));
  // One encoding far from the others, yet in range; then all out of range.
  const CriterionResult apart =
      judged_criterion(spoilt_by({"rope", plain_windows, 64, {0.05, 0.05, 0.05}, true}), "C9");
  CHECK(apart.verdict == Verdict::fails);
  CHECK(contains(apart.figure, "g of rope - g of "));
  CHECK(verdict_of(spoilt_by({"", plain_windows, 64, {-0.055, -0.055, -0.055}, true}), "C9") ==
        Verdict::fails);
  CHECK(verdict_of(spoilt_by({"", plain_windows, 64, {-0.03, 0, 0.03}, true}), "C9") ==
        Verdict::inconclusive);
  CriteriaSample alone;
  alone.kinds = {"alibi"};
  CHECK(verdict_of(alone.make(), "C9") == Verdict::holds);
  alone.kinds = {"none"};
  CHECK(contains(judged_criterion(alone.make(), "C9").reason, "none of learned, sinusoidal, rope and alibi"));
  CHECK(contains(judged_criterion(diverged_seed("rope"), "C9").reason, "rope, seed 1, diverged in training"));
}

TEST_CASE("C10: ALiBi of 64, 128 and 256 against sinusoidal of 512, all at 512") {
  CriteriaSample sample;
  Comparison grid;
  grid.config.compare.thresholds = "paper-1";
  grid.config.compare.encodings.clear();
  const auto train_at = [&](const std::string& kind, Index length, double nats) {
    sample.kinds = {kind};
    sample.train_length = length;
    sample.times = {1, 2, 4, 8};
    sample.change = [&](const std::string&, std::uint64_t, EvaluationResult& result) {
      add_loss(result, nats);
    };
    const std::string name = kind + std::to_string(length);
    for (FinishedCell cell : sample.make().cells) {
      cell.variant = name;
      cell.record.tokens_per_second *= 100.0 / static_cast<double>(length);
      grid.cells.push_back(cell);
    }
    grid.config.compare.variants.push_back(
        {.name = name,
         .of = {},
         .changes = {{"positional.kind", '"' + kind + '"'}, {"train.length", std::to_string(length)}}});
  };
  train_at("alibi", 64, 0.01);
  train_at("alibi", 128, 0);
  train_at("sinusoidal", 512, 0);
  CHECK_FALSE(verdict_of(grid, "C10"));
  CHECK(contains(judged_criterion(grid, "C10").reason, "there is no alibi trained at 256"));
  train_at("alibi", 256, 0);
  const CriterionResult found = judged_criterion(grid, "C10");
  CHECK(found.verdict == Verdict::holds);
  CHECK(found.threshold ==
        "alibi of 64/sinusoidal of 512 ≤ 1.05; alibi of 128/sinusoidal of 512 ≤ 1.05; "
        "alibi of 256/sinusoidal of 512 ≤ 1.01");
  // Cost by trained length stands beside C11.
  CHECK(
      contains(judged_criterion(grid, "C11").figure, "alibi trained at 64: 4.00 times the tokens/s of 256"));
  for (FinishedCell& cell : grid.cells) {
    if (cell.variant == "alibi64") {
      for (RecordedResult& recorded : cell.record.results) add_loss(recorded.result, 0.2);
    }
  }
  CHECK(verdict_of(grid, "C10") == Verdict::fails);
}

TEST_CASE("C11: tokens a second of ALiBi and RoPE over those of sinusoidal") {
  const auto with_speed = [](const std::string& kind, std::vector<double> factors) {
    Comparison comparison = CriteriaSample().make();
    for (FinishedCell& cell : comparison.cells) {
      if (cell.kind == kind) cell.record.tokens_per_second *= factors[cell.seed];
    }
    return comparison;
  };
  CHECK(judged_criterion(CriteriaSample().make(), "C11").threshold ==
        "tokens/s of alibi/sinusoidal ≥ 0.95; tokens/s of rope/sinusoidal ≥ 0.90");
  CHECK(verdict_of(with_speed("rope", {0.8, 0.8, 0.8}), "C11") == Verdict::fails);
  CHECK(verdict_of(with_speed("alibi", {0.8, 1, 1.2}), "C11") == Verdict::inconclusive);
  CHECK(judged_criterion(with_speed("alibi", {0, 0, 0}), "C11").reason ==
        "there is no speed of the training of alibi");
  CHECK(judged_criterion(without("sinusoidal"), "C11").reason == "there is no sinusoidal");
  CHECK(judged_criterion(diverged_seed("rope"), "C11").conditions[1].seeds == 2);
}

TEST_CASE("C12: every loss at L below what single bytes are worth, on the text that the number is of") {
  CHECK(judged_criterion(CriteriaSample().make(), "C12").threshold == "loss at L < 1.90 nats for each");
  const CriterionResult high = judged_criterion(spoilt_by({"rope", plain_windows, 64, all_worse}), "C12");
  CHECK(high.verdict == Verdict::fails);
  CHECK(high.figure.starts_with("rope = 2.5"));
  CHECK(verdict_of(spoilt_by({"rope", plain_windows, 64, {0, 0.3, 0.6}}), "C12") == Verdict::inconclusive);
  Comparison other = CriteriaSample().make();
  other.config.data.source = "mine.txt";
  CHECK_FALSE(verdict_of(other, "C12"));
  CHECK(contains(judged_criterion(other, "C12").reason, "King James"));
  CriteriaSample alone;
  alone.kinds = {"none"};
  CHECK_FALSE(verdict_of(alone.make(), "C12"));
  CHECK(contains(judged_criterion(diverged_seed("alibi"), "C12").reason,
                 "alibi, seed 1, diverged in training"));
}
}  // namespace
}  // namespace tapeline::test
