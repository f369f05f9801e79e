#include <doctest/doctest.h>

#include <cmath>
#include <tuple>

#include "experiments/criteria/criterion.h"
#include "tests/experiments/spoilt_criteria.h"
#include "tests/support/text.h"
#include "train/residual.h"

// Each criterion: what makes it fail, what leaves it open, what it cannot do without, a seed that diverged.
namespace tapeline::test {
namespace {

TEST_CASE("C1: R of ALiBi at 8 and 16 times L") {
  CHECK(verdict_of(spoilt_by({"alibi", plain_windows, 512, all_worse}), "C1") == Verdict::fails);
  CHECK(verdict_of(spoilt_by({"alibi", plain_windows, 1024, all_worse}), "C1") == Verdict::fails);
  CHECK(verdict_of(spoilt_by({"alibi", plain_windows, 512, far_apart}), "C1") == Verdict::inconclusive);
  CHECK(verdict_of(spoilt_by({"rope", plain_windows, 512, all_worse}), "C1") == Verdict::holds);
  const CriterionResult absent = judged_criterion(without("alibi"), "C1");
  CHECK_FALSE(absent.verdict);
  CHECK(absent.reason == "there is no alibi");
  CriteriaSample shorter;
  shorter.times = {1, 2, 4, 8};
  CHECK_FALSE(verdict_of(shorter.make(), "C1"));
  CHECK(contains(judged_criterion(shorter.make(), "C1").reason,
                 "alibi was not evaluated in non-overlapping windows of 1024"));
  // What is missing cannot mend what fails.
  shorter.change = [](const std::string&, std::uint64_t, EvaluationResult& result) {
    if (result.cell.length == 512 && result.status == "ok") add_loss(result, 1);
  };
  CHECK(verdict_of(shorter.make(), "C1") == Verdict::fails);
  const CriterionResult diverged = judged_criterion(diverged_seed("alibi"), "C1");
  CHECK(diverged.verdict == Verdict::holds);
  CHECK(diverged.conditions[0].seeds == 2);
  CHECK(diverged.reason == "alibi, seed 1, diverged in training");
  CHECK(contains(judged_criterion(diverged_seed("alibi", 512), "C1").reason,
                 "alibi, seed 1, diverged in non-overlapping windows of 512"));
}

TEST_CASE("C1: one seed decides nothing, however clear; all diverged is no figure") {
  CriteriaSample one;
  one.seeds = 1;
  one.change = [](const std::string&, std::uint64_t, EvaluationResult& result) {
    if (result.cell.length == 512 && result.status == "ok") add_loss(result, 5);
  };
  CHECK(verdict_of(one.make(), "C1") == Verdict::inconclusive);
  one.change = [](const std::string&, std::uint64_t, EvaluationResult& result) {
    result.status = "diverged";
  };
  const CriterionResult none = judged_criterion(one.make(), "C1");
  CHECK_FALSE(none.verdict);
  CHECK(contains(none.reason, "no model is left; alibi, seed 0, diverged"));
}

TEST_CASE("C2: R of ALiBi in sliding windows, against full history at L as well") {
  CHECK(verdict_of(spoilt_by({"alibi", sliding_windows, 512, all_worse, true}), "C2") == Verdict::fails);
  CHECK(verdict_of(spoilt_by({"alibi", sliding_windows, 512, far_apart, true}), "C2") ==
        Verdict::inconclusive);
  // With half a window as stride, targets at L have less history than L: that is not what is compared with.
  CHECK(verdict_of(spoilt_by({"alibi", sliding_windows, 64, {1, 1, 1}, true, 32}), "C2") == Verdict::holds);
  CHECK(verdict_of(spoilt_by({"alibi", sliding_windows, 64, {-1, -1, -1}, true, 1}), "C2") == Verdict::fails);
  // Nor are windows side by side at 8 L, by a stride as long as they are.
  CriteriaSample coarse;
  coarse.change = [](const std::string&, std::uint64_t, EvaluationResult& result) {
    EvaluationCell& cell = result.cell;
    if (cell.protocol == Protocol::sliding && cell.length == 512) cell.stride = 512;
  };
  CHECK(judged_criterion(coarse.make(), "C2").reason == "alibi was not evaluated in sliding windows of 512");
  CHECK_FALSE(verdict_of(without("alibi"), "C2"));
  CriteriaSample plain_only;
  Comparison comparison = plain_only.make();
  for (FinishedCell& cell : comparison.cells)
    std::erase_if(cell.record.results, [](const RecordedResult& r) { return r.result.cell.subset; });
  CHECK(judged_criterion(comparison, "C2").reason == "alibi was not evaluated in sliding windows of 512");
  CHECK(judged_criterion(diverged_seed("alibi"), "C2").conditions[0].seeds == 2);
}

TEST_CASE("C3: the residual beside the early tokens, within 0.015 nats at 2L and 4L") {
  const CriterionResult found = judged_criterion(CriteriaSample().make(), "C3");
  CHECK(found.threshold == "residual at 2L within ±0.015 nats; residual at 4L within ±0.015 nats");
  CHECK(found.conditions[0].blocks == 8);
  // A loss at L that is 0.04 higher leaves half of it unexplained at 2L, three quarters at 4L.
  const Comparison shifted = spoilt_by({"alibi", plain_windows, 256, {0.04, 0.04, 0.04}, true});
  CHECK(judged_criterion(shifted, "C3").conditions[1].estimate ==
        doctest::Approx(found.conditions[1].estimate + 0.04).epsilon(1e-9));
  CHECK(verdict_of(shifted, "C3") == Verdict::fails);
  CHECK(verdict_of(spoilt_by({"alibi", plain_windows, 128, {-0.04, -0.04, -0.04}, true}), "C3") ==
        Verdict::fails);
  CHECK(verdict_of(spoilt_by({"alibi", plain_windows, 128, {-0.02, 0, 0.02}, true}), "C3") ==
        Verdict::inconclusive);
  // The interval over the text is of the same sum: without noise of blocks between lengths it has no width.
  CHECK(found.conditions[0].token_upper - found.conditions[0].token_lower < 1e-9);
  CHECK(found.conditions[0].token_lower == doctest::Approx(found.conditions[0].estimate));
  CHECK_FALSE(verdict_of(without("alibi"), "C3"));
  CHECK(judged_criterion(diverged_seed("alibi", 128), "C3").conditions[0].seeds == 2);
}

TEST_CASE("C3: the prediction goes by the number of windows, as that of the probe residual") {
  CriteriaSample sample;
  sample.train_length = 96;
  sample.change = [](const std::string&, std::uint64_t, EvaluationResult& result) {
    if (!result.cell.subset || result.status != "ok") return;
    // Pieces of 512: 6 windows of 96, 3 of 192, 2 of 384.
    for (SegmentLoss& segment : result.segments) segment = {segment.total / 768 * 512, 512};
    result.scored_tokens = result.scored_bytes = 8 * 512;
  };
  Comparison comparison = sample.make();
  comparison.config.train.tokens_per_step = 20 * 96;
  const CriterionResult found = judged_criterion(comparison, "C3");
  REQUIRE(found.conditions.size() == 2);
  for (const auto& [place, length, share] : {std::tuple(0, 192, 3.0 / 6), std::tuple(1, 384, 2.0 / 6)}) {
    CAPTURE(length);
    double expected = 0;
    for (const FinishedCell& cell : comparison.cells) {
      if (cell.kind != "alibi") continue;
      const auto curse = curse_only(cell.record.results_of(trained_evaluation), 96, length);
      CHECK(curse->share == share);
      expected += curse->residual() / 3;
    }
    CHECK(found.conditions[static_cast<std::size_t>(place)].estimate ==
          doctest::Approx(expected).epsilon(1e-9));
  }
}

TEST_CASE("C4: sinusoidal positions fail: R at 8L, and of the tail at 2L") {
  const std::vector<double> better = {-0.6, -0.6, -0.6};
  CHECK(verdict_of(spoilt_by({"sinusoidal", plain_windows, 512, better}), "C4") == Verdict::fails);
  CHECK(verdict_of(spoilt_by({"sinusoidal", plain_windows, 128, better}), "C4") ==
        Verdict::fails);  // its tail
  CHECK(verdict_of(spoilt_by({"sinusoidal", plain_windows, 512, {-0.6, 0, 0.6}}), "C4") ==
        Verdict::inconclusive);
  CHECK(judged_criterion(without("sinusoidal"), "C4").reason == "there is no sinusoidal");
  const CriterionResult diverged = judged_criterion(diverged_seed("sinusoidal", 512), "C4");
  CHECK(diverged.verdict == Verdict::holds);
  CHECK(contains(diverged.reason, "sinusoidal, seed 1, diverged in non-overlapping windows of 512"));
  // Runaway seeds: the mean says little, and stands beside median and range.
  CHECK(contains(judged_criterion(spoilt_by({"sinusoidal", plain_windows, 512, {0, 0.3, 3}}), "C4").figure,
                 "; median "));
  CHECK_FALSE(contains(judged_criterion(CriteriaSample().make(), "C4").figure, "median"));
}

TEST_CASE("C5: RoPE's R over ALiBi's at 8L, paired by seed") {
  const CriterionResult found = judged_criterion(CriteriaSample().make(), "C5");
  CHECK(found.threshold == "R_rope(8)/R_alibi(8) ≥ 1.05");
  CHECK(found.conditions[0].estimate == doctest::Approx(std::exp(0.3)).epsilon(0.005));
  CHECK(verdict_of(spoilt_by({"rope", plain_windows, 512, {-0.4, -0.4, -0.4}}), "C5") == Verdict::fails);
  CHECK(verdict_of(spoilt_by({"rope", plain_windows, 512, {-0.4, 0, 0.4}}), "C5") == Verdict::inconclusive);
  CHECK(judged_criterion(without("alibi"), "C5").reason == "there is no alibi");
  CHECK(judged_criterion(diverged_seed("rope"), "C5").conditions[0].seeds == 2);
  CriteriaSample smoke;
  smoke.thresholds = "smoke-1";
  smoke.seeds = 1;
  CHECK(verdict_of(smoke.make(), "C5") == Verdict::holds);
  Comparison diverged = diverged_seed("rope", 512);
  diverged.config.compare.thresholds = "smoke-1";
  CHECK(verdict_of(diverged, "C5") == Verdict::fails);
  CHECK(contains(judged_criterion(diverged, "C5").figure, "not finite at 512 (seed 1)"));
}

TEST_CASE("C6: the order at 8L in every one of three seeds") {
  const CriterionResult found = judged_criterion(CriteriaSample().make(), "C6");
  CHECK(contains(found.figure, "sinusoidal > rope > alibi in 3 of 3 seeds (means 2.2"));
  const CriterionResult broken =
      judged_criterion(spoilt_by({"rope", plain_windows, 512, {0, 0, -0.5}}), "C6");
  CHECK(broken.verdict == Verdict::fails);
  CHECK(broken.reason == "another order in seed 2");
  const CriterionResult diverged = judged_criterion(diverged_seed("sinusoidal", 512), "C6");
  CHECK(diverged.verdict == Verdict::inconclusive);
  CHECK(contains(diverged.reason, "2 seeds, 3 asked for"));
  CHECK(contains(diverged.reason, "sinusoidal, seed 1, diverged"));
  CriteriaSample one;
  one.seeds = 1;
  one.change = [](const std::string& kind, std::uint64_t, EvaluationResult& result) {
    if (kind == "rope" && result.status == "ok") add_loss(result, 5);
  };
  CHECK(verdict_of(one.make(), "C6") == Verdict::inconclusive);
  CHECK(judged_criterion(without("rope"), "C6").reason == "there is no rope");
}
}  // namespace
}  // namespace tapeline::test
