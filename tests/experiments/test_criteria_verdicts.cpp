#include <doctest/doctest.h>

#include <cmath>

#include "experiments/criteria/criterion.h"
#include "tests/experiments/criteria_samples.h"
#include "tests/support/text.h"

// Each criterion: what makes it fail, what leaves it open, what it cannot do without, a seed that diverged.
namespace tapeline {
namespace {

using test::add_loss;
using test::contains;
using test::CriteriaSample;
using test::judged_criterion;

/// Which evaluations a test changes, and by how much for seed 0, 1 and 2.
struct Spoilt {
  std::string kind;
  Protocol protocol;
  Index length;
  std::vector<double> nats;
  bool subset = false;
  Index stride = 0;  ///< 0: any
};

bool is_meant(const Spoilt& spoilt, const std::string& kind, const EvaluationResult& result) {
  const EvaluationCell& cell = result.cell;
  return (spoilt.kind.empty() || kind == spoilt.kind) && cell.protocol == spoilt.protocol &&
         cell.length == spoilt.length && cell.subset == spoilt.subset &&
         (spoilt.stride == 0 || cell.stride == spoilt.stride);
}

Comparison spoilt_by(const Spoilt& spoilt) {
  CriteriaSample sample;
  sample.change = [&](const std::string& kind, std::uint64_t seed, EvaluationResult& result) {
    if (is_meant(spoilt, kind, result) && result.status == "ok") add_loss(result, spoilt.nats[seed]);
  };
  return sample.make();
}

Comparison without(const std::string& kind) {
  CriteriaSample sample;
  std::erase(sample.kinds, kind);
  return sample.make();
}

/// Seed 1 of that kind diverges: in training, or in the evaluations at one length.
Comparison diverged_seed(const std::string& kind, Index at_length = 0) {
  CriteriaSample sample;
  sample.change = [&](const std::string& of, std::uint64_t seed, EvaluationResult& result) {
    if (of != kind || seed != 1 || (at_length != 0 && result.cell.length != at_length)) return;
    const EvaluationCell cell = result.cell;
    result = {};
    result.cell = cell;
    result.status = "diverged";
  };
  Comparison comparison = sample.make();
  for (FinishedCell& cell : comparison.cells) {
    if (at_length == 0 && cell.kind == kind && cell.seed == 1) cell.record.training = "diverged";
  }
  return comparison;
}

std::optional<Verdict> verdict_of(const Comparison& comparison, const char* id) {
  return judged_criterion(comparison, id).verdict;
}

constexpr Protocol plain = Protocol::nonoverlapping, sliding = Protocol::sliding;
const std::vector<double> worse = {1, 1, 1}, uneven = {-1, 0.2, 1};

TEST_CASE("C1: R of ALiBi at 8 and 16 times L") {
  CHECK(verdict_of(spoilt_by({"alibi", plain, 512, worse}), "C1") == Verdict::fails);
  CHECK(verdict_of(spoilt_by({"alibi", plain, 1024, worse}), "C1") == Verdict::fails);
  CHECK(verdict_of(spoilt_by({"alibi", plain, 512, uneven}), "C1") == Verdict::inconclusive);
  CHECK(verdict_of(spoilt_by({"rope", plain, 512, worse}), "C1") == Verdict::holds);
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

TEST_CASE("C2: R of ALiBi in sliding windows of the same stride") {
  CHECK(verdict_of(spoilt_by({"alibi", sliding, 512, worse, true}), "C2") == Verdict::fails);
  CHECK(verdict_of(spoilt_by({"alibi", sliding, 512, uneven, true}), "C2") == Verdict::inconclusive);
  // Those of stride 1 at L have more history: they are not what is compared with.
  CHECK(verdict_of(spoilt_by({"alibi", sliding, 64, {-1, -1, -1}, true, 1}), "C2") == Verdict::holds);
  CHECK(verdict_of(spoilt_by({"alibi", sliding, 64, {-1, -1, -1}, true, 32}), "C2") == Verdict::fails);
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
  const Comparison shifted = spoilt_by({"alibi", plain, 256, {0.04, 0.04, 0.04}, true});
  CHECK(judged_criterion(shifted, "C3").conditions[1].estimate ==
        doctest::Approx(found.conditions[1].estimate + 0.04).epsilon(1e-9));
  CHECK(verdict_of(shifted, "C3") == Verdict::fails);
  CHECK(verdict_of(spoilt_by({"alibi", plain, 128, {-0.04, -0.04, -0.04}, true}), "C3") == Verdict::fails);
  CHECK(verdict_of(spoilt_by({"alibi", plain, 128, {-0.02, 0, 0.02}, true}), "C3") == Verdict::inconclusive);
  // The interval over the text is of the same sum: without noise of blocks between lengths it has no width.
  CHECK(found.conditions[0].token_upper - found.conditions[0].token_lower < 1e-9);
  CHECK(found.conditions[0].token_lower == doctest::Approx(found.conditions[0].estimate));
  CHECK_FALSE(verdict_of(without("alibi"), "C3"));
  CHECK(judged_criterion(diverged_seed("alibi", 128), "C3").conditions[0].seeds == 2);
}

TEST_CASE("C4: sinusoidal positions fail: R at 8L, and of the tail at 2L") {
  const std::vector<double> better = {-0.6, -0.6, -0.6};
  CHECK(verdict_of(spoilt_by({"sinusoidal", plain, 512, better}), "C4") == Verdict::fails);
  CHECK(verdict_of(spoilt_by({"sinusoidal", plain, 128, better}), "C4") == Verdict::fails);  // its tail
  CHECK(verdict_of(spoilt_by({"sinusoidal", plain, 512, {-0.6, 0, 0.6}}), "C4") == Verdict::inconclusive);
  CHECK(judged_criterion(without("sinusoidal"), "C4").reason == "there is no sinusoidal");
  const CriterionResult diverged = judged_criterion(diverged_seed("sinusoidal", 512), "C4");
  CHECK(diverged.verdict == Verdict::holds);
  CHECK(contains(diverged.reason, "sinusoidal, seed 1, diverged in non-overlapping windows of 512"));
  // Runaway seeds: the mean says little, and stands beside median and range.
  CHECK(contains(judged_criterion(spoilt_by({"sinusoidal", plain, 512, {0, 0.3, 3}}), "C4").figure,
                 "; median "));
  CHECK_FALSE(contains(judged_criterion(CriteriaSample().make(), "C4").figure, "median"));
}

TEST_CASE("C5: RoPE's R over ALiBi's at 8L, paired by seed") {
  const CriterionResult found = judged_criterion(CriteriaSample().make(), "C5");
  CHECK(found.threshold == "R_rope(8)/R_alibi(8) ≥ 1.05");
  CHECK(found.conditions[0].estimate == doctest::Approx(std::exp(0.3)).epsilon(0.005));
  CHECK(verdict_of(spoilt_by({"rope", plain, 512, {-0.4, -0.4, -0.4}}), "C5") == Verdict::fails);
  CHECK(verdict_of(spoilt_by({"rope", plain, 512, {-0.4, 0, 0.4}}), "C5") == Verdict::inconclusive);
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
  const CriterionResult broken = judged_criterion(spoilt_by({"rope", plain, 512, {0, 0, -0.5}}), "C6");
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

TEST_CASE("C7: the learned table refuses everything past L, in every seed, with one seed too") {
  CriteriaSample sample;
  sample.seeds = 1;
  CHECK(judged_criterion(sample.make(), "C7").figure == "refused at 128, 256, 512, 1024 (1 seed)");
  CHECK(verdict_of(sample.make(), "C7") == Verdict::holds);
  sample.change = [](const std::string& kind, std::uint64_t, EvaluationResult& result) {
    if (kind == "learned" && result.cell.length == 256 && result.cell.protocol == sliding)
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
      judged_criterion(spoilt_by({"learned", plain, 64, {0.2, 0.2, 0.2}}), "C8");
  CHECK(worse_one.verdict == Verdict::fails);
  CHECK(worse_one.figure.starts_with("learned - rope = 0.2"));
  CHECK(verdict_of(spoilt_by({"learned", plain, 64, {0, 0.05, 0.1}}), "C8") == Verdict::inconclusive);
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
      judged_criterion(spoilt_by({"rope", plain, 64, {0.05, 0.05, 0.05}, true}), "C9");
  CHECK(apart.verdict == Verdict::fails);
  CHECK(contains(apart.figure, "g of rope - g of "));
  CHECK(verdict_of(spoilt_by({"", plain, 64, {-0.055, -0.055, -0.055}, true}), "C9") == Verdict::fails);
  CHECK(verdict_of(spoilt_by({"", plain, 64, {-0.03, 0, 0.03}, true}), "C9") == Verdict::inconclusive);
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
  const CriterionResult high = judged_criterion(spoilt_by({"rope", plain, 64, worse}), "C12");
  CHECK(high.verdict == Verdict::fails);
  CHECK(high.figure.starts_with("rope = 2.5"));
  CHECK(verdict_of(spoilt_by({"rope", plain, 64, {0, 0.3, 0.6}}), "C12") == Verdict::inconclusive);
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
}  // namespace tapeline
