#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "experiments/claims/evidence.h"
#include "layers/positional/registry.h"
#include "tests/experiments/claim_checks.h"
#include "tests/experiments/comparison_samples.h"
#include "tests/support/kinds.h"

namespace tapeline::test {
namespace {

using enum ClaimVerdict;

/// Losses in nats a token, one a seed.
using Losses = std::vector<double>;
using LossesByLength = std::map<Index, Losses>;

Comparison nothing_trained() {
  Comparison comparison = sample_comparison(0);
  comparison.config.compare.encodings.clear();
  return comparison;
}

FinishedCell& cell_of(Comparison& comparison, const std::string& variant, std::size_t seed,
                      const std::string& kind, Index train_length) {
  const auto found = std::ranges::find_if(comparison.cells, [&](const FinishedCell& cell) {
    return cell.variant == variant && cell.seed == seed;
  });
  if (found != comparison.cells.end()) return *found;
  FinishedCell cell{variant, kind, seed, train_length, {}};
  cell.record.training = "done";
  cell.record.complete = true;
  cell.record.tokens_per_second = 40000;
  comparison.cells.push_back(cell);
  return comparison.cells.back();
}

/// Results of a variant that stands in the configuration already.
void add_results(Comparison& comparison, const std::string& variant, const std::string& kind, Index trained,
                 const LossesByLength& losses, const std::string& evaluation = "trained",
                 Protocol protocol = Protocol::nonoverlapping, bool subset = false, Index stride = 0) {
  for (const auto& [length, by_seed] : losses) {
    for (std::size_t seed = 0; seed < by_seed.size(); ++seed) {
      const EvaluationCell place{protocol, length, stride == 0 ? length : stride, subset};
      cell_of(comparison, variant, seed, kind, trained)
          .record.results.push_back({evaluation, sample_result(place, by_seed[seed])});
    }
  }
}

/// A plain model of a kind, trained at 64.
void add_kind(Comparison& comparison, const std::string& kind, const LossesByLength& losses) {
  comparison.config.compare.encodings.push_back(kind);
  add_results(comparison, kind, kind, 64, losses);
}

void add_scaling(Comparison& comparison, const std::string& scaling, const LossesByLength& losses) {
  comparison.config.compare.evaluations.push_back(
      {.name = scaling, .of = {"rope"}, .changes = {{"positional.rope.scaling", "\"" + scaling + "\""}}});
  add_results(comparison, "rope", "rope", 64, losses, scaling);
}

void check_judged(const Comparison& comparison, const std::string& id, ClaimVerdict verdict,
                  const std::string& part = "") {
  CAPTURE(id);
  check_finding(test_claim(find_claim(id), &comparison), verdict, part);
}

TEST_CASE("claims: the rule of verdicts on trained models") {
  const ClaimQuestion below{ClaimSide::below, 1, false}, supported{ClaimSide::below, 1, true},
      above{ClaimSide::above, 1, false};
  const Estimate low{3, 0.8, 0.1}, high{3, 1.2, 0.1}, wide{3, 1.05, 0.1}, one_low{.count = 1, .mean = 0.99},
      one_high{.count = 1, .mean = 1.01}, at_bound{.count = 1, .mean = 1};
  CHECK(trained_verdict(low, below) == is_true);
  CHECK(trained_verdict(high, below) == is_false);
  CHECK(trained_verdict(high, supported) == not_at_this_scale);
  CHECK(trained_verdict(wide, below) == not_at_this_scale);
  CHECK(trained_verdict(wide, above) == not_at_this_scale);
  CHECK(trained_verdict(low, above) == is_false);
  CHECK(trained_verdict(high, above) == is_true);
  CHECK(trained_verdict(one_low, below) == is_true);
  CHECK(trained_verdict(one_high, below) == is_false);
  CHECK(trained_verdict(at_bound, below) == is_true);
  CHECK(trained_verdict(at_bound, above) == is_true);
  CHECK(contains(trained_finding(wide, below, "found").figure, "found; these seeds do not settle it"));
  CHECK(trained_finding(low, below, "found").figure == "found");
  CHECK(trained_finding(Estimate{}, below, "found").verdict == needs_comparison);
}

TEST_CASE("claims: without models, or with others, a comparison is asked for") {
  const Comparison nothing = nothing_trained();
  for (const ClaimGroup& group : claim_groups()) {
    for (const Claim& claim : group.claims) {
      if (claim.judge == nullptr || std::ranges::any_of(claim.kinds, is_left_out)) continue;
      CAPTURE(std::string(claim.id));
      check_finding(test_claim(claim, nullptr), needs_comparison, "no trained models were given");
      check_finding(test_claim(claim, &nothing), needs_comparison);
    }
  }
}

TEST_CASE("claims: past the trained length" * needs({"rope", "alibi", "sinusoidal", "none", "t5"})) {
  Comparison comparison = nothing_trained();
  add_kind(comparison, "rope", {{64, {1.6, 1.61, 1.62}}, {512, {2.1, 2.12, 2.13}}, {1024, {9, 9, 9}}});
  add_kind(comparison, "alibi", {{64, {1.66, 1.67, 1.68}}, {512, {1.65, 1.66, 1.67}}});
  add_kind(comparison, "sinusoidal", {{64, {1.8}}, {512, {2.8}}});
  add_kind(comparison, "none", {{64, {1.9, 1.9, 1.9}}, {128, {2.0, 2.01, 2.02}}});
  add_kind(comparison, "t5", {{64, {1.6, 1.6, 1.6}}, {128, {1.5, 1.6, 1.7}}});
  check_judged(
      comparison, "rope-extrapolates", is_false,
      "rope from 64 to 512: +0.507 ±0.014 nats a token (perplexity × 1.660), 3 seeds; asked: at most × 1.02");
  check_judged(comparison, "alibi-extrapolates", is_true, "-0.010 ±0.000");
  check_judged(comparison, "sinusoid-fails", is_true, "one seed");
  check_judged(comparison, "none-holds", not_at_this_scale, "from 64 to 128");
  check_judged(comparison, "t5-extrapolates", not_at_this_scale, "these seeds do not settle it");

  Comparison other = nothing_trained();
  add_kind(other, "rope", {{64, {1.6, 1.6}}, {256, {1.6, 1.6}}});
  add_kind(other, "alibi", {{64, {1.6, 1.6}}, {256, {1.8, 1.81}}});
  add_kind(other, "sinusoidal", {{64, {1.6}}, {512, {1.6}}});
  add_kind(other, "none", {{64, {1.9, 1.9}}, {128, {1.91, 1.91}}});
  add_kind(other, "t5", {{64, {1.6}}, {256, {1.6}}});
  check_judged(other, "rope-extrapolates", is_true, "from 64 to 256");
  check_judged(other, "alibi-extrapolates", not_at_this_scale);
  check_judged(other, "sinusoid-fails", not_at_this_scale, "asked: at least × 1.25");
  check_judged(other, "none-holds", is_true);
  check_judged(other, "t5-extrapolates", needs_comparison,
               "t5 was evaluated at no length above 64 up to 128");
}

TEST_CASE("claims: a model with more set than its kind is not the plain one" * needs({"rope", "alibi"})) {
  Comparison comparison = nothing_trained();
  comparison.config.compare.variants.push_back(
      {.name = "rope500", .changes = {{"positional.kind", "\"rope\""}, {"positional.rope.base", "500.0"}}});
  add_results(comparison, "rope500", "rope", 64, {{64, {1.6}}, {512, {1.6}}});
  check_judged(comparison, "rope-extrapolates", needs_comparison, "no plain rope model in this comparison");
  comparison.config.compare.variants.push_back(
      {.name = "turning", .changes = {{"positional.kind", "\"rope\""}}});
  add_results(comparison, "turning", "rope", 64, {{64, {1.6}}, {512, {2.6}}});
  check_judged(comparison, "rope-extrapolates", is_false, "turning from 64 to 512");
  // What is set for all holds for this kind too, unless it is of another.
  OptionValues alibi(encoding_kind("alibi").options);
  alibi.set("learned", true);
  comparison.config.positional.options["alibi"] = alibi;
  check_judged(comparison, "rope-extrapolates", is_false);
  comparison.config.positional.keys.window = 16;
  check_judged(comparison, "rope-extrapolates", needs_comparison);
}

TEST_CASE("claims: models that have hardly been trained are not asked" * needs({"rope", "alibi"})) {
  Comparison comparison = nothing_trained();
  add_kind(comparison, "rope", {{64, {3.2, 3.2}}, {512, {3.2, 3.2}}});
  add_kind(comparison, "alibi", {{64, {3.2, 3.2}}, {512, {3.2, 3.2}}});
  check_judged(comparison, "rope-extrapolates", is_true);
  for (FinishedCell& cell : comparison.cells) {
    EvaluationResult& at_trained = cell.record.results.front().result;
    at_trained.tail_nll = at_trained.positions.front().nll - (cell.variant == "rope" ? 0.05 : 0.2);
  }
  CHECK_FALSE(uses_context(comparison, "rope"));
  CHECK(uses_context(comparison, "alibi"));
  check_judged(comparison, "rope-extrapolates", needs_comparison, "plain rope has hardly learned here");
  check_judged(comparison, "alibi-extrapolates", is_true);
}

TEST_CASE("claims: one encoding against another, by seed" *
          needs({"rope", "alibi", "sinusoidal", "learned", "none", "t5", "kerple_log"})) {
  Comparison comparison = nothing_trained();
  // Seeds differ by more than the encodings: only pairs tell them apart.
  add_kind(comparison, "learned", {{64, {1.70, 1.80, 1.90}}});
  add_kind(comparison, "rope", {{64, {1.60, 1.70, 1.80}}, {128, {2.0, 2.1, 2.2}}, {512, {2.1, 2.2, 2.3}}});
  add_kind(comparison, "alibi",
           {{64, {1.62, 1.72, 1.82}}, {128, {1.61, 1.71, 1.81}}, {512, {1.6, 1.7, 1.8}}});
  add_kind(comparison, "sinusoidal", {{64, {1.75, 1.85, 1.95}}, {512, {2.7, 2.8, 2.9}}});
  add_kind(comparison, "none", {{64, {1.95, 2.05, 2.15}}, {128, {2.05, 2.15, 2.25}}});
  add_kind(comparison, "t5", {{64, {1.65, 1.75, 1.85}}, {512, {1.8, 1.9, 2.0}}});
  add_kind(comparison, "kerple_log", {{64, {1.65, 1.75, 1.85}}, {512, {1.59, 1.75, 1.78}}});
  check_judged(comparison, "rope-best-at-length", is_true,
               "rope less alibi, the best of the others at 64: -0.020");
  check_judged(comparison, "alibi-best-at-length", not_at_this_scale, "alibi less rope");
  check_judged(comparison, "all-alike-at-length", not_at_this_scale,
               "highest less lowest of learned, sinusoidal, rope, alibi at 64: +0.150 ±0.000");
  check_judged(comparison, "rope-beats-sinusoid", is_true,
               "rope less sinusoidal at 512, trained at 64: -0.600");
  check_judged(comparison, "t5-beats-rope", is_true);
  check_judged(comparison, "kerple-beats-alibi", not_at_this_scale, "these seeds do not settle it");
  check_judged(comparison, "none-beats-alibi", not_at_this_scale, "at 128");

  for (FinishedCell& cell : comparison.cells) {
    if (cell.variant == "alibi") cell.record.tokens_per_second = 39000 + 100 * static_cast<double>(cell.seed);
    if (cell.variant == "rope") cell.record.tokens_per_second = 30000;
  }
  check_judged(comparison, "alibi-trains-faster", is_false, "alibi over sinusoidal: 0.978 ±0.006, 3 seeds");
  check_judged(comparison, "rope-trains-slower", is_true);
  for (FinishedCell& cell : comparison.cells) {
    if (cell.variant != "sinusoidal") cell.record.tokens_per_second = 45000;
  }
  check_judged(comparison, "alibi-trains-faster", is_true);
  check_judged(comparison, "rope-trains-slower", is_false);
}

TEST_CASE("claims: alike at the trained length, and the order of encodings turned round" *
          needs({"rope", "alibi", "sinusoidal", "t5", "kerple_log", "none"})) {
  Comparison comparison = nothing_trained();
  add_kind(comparison, "rope", {{64, {1.63, 1.64}}, {128, {3, 3}}, {512, {3, 3}}});
  add_kind(comparison, "alibi", {{64, {1.60, 1.61}}, {128, {2.5, 2.5}}, {512, {2.5, 2.5}}});
  add_kind(comparison, "sinusoidal", {{64, {1.62, 1.63}}, {512, {2.0, 2.0}}});
  add_kind(comparison, "t5", {{64, {1.64, 1.64}}, {512, {3.5, 3.5}}});
  add_kind(comparison, "kerple_log", {{64, {1.65, 1.65}}, {512, {2.4, 2.4}}});
  add_kind(comparison, "none", {{64, {1.65, 1.65}}, {128, {2.4, 2.4}}});
  check_judged(comparison, "all-alike-at-length", is_true);
  check_judged(comparison, "alibi-best-at-length", is_true);
  check_judged(comparison, "rope-best-at-length", not_at_this_scale);
  check_judged(comparison, "rope-beats-sinusoid", not_at_this_scale);
  check_judged(comparison, "t5-beats-rope", not_at_this_scale);
  check_judged(comparison, "kerple-beats-alibi", is_true);
  check_judged(comparison, "none-beats-alibi", is_true);
}

TEST_CASE("claims: scalings and log-n after training" * needs({"rope", "alibi"})) {
  Comparison comparison = nothing_trained();
  add_kind(comparison, "rope", {{64, {1.6, 1.61}}, {128, {1.7, 1.71}}, {256, {1.9, 1.91}}});
  add_scaling(comparison, "linear", {{64, {1.6, 1.61}}, {128, {2.5, 2.52}}, {256, {3.2, 3.2}}});
  add_scaling(comparison, "ntk", {{128, {1.62, 1.63}}, {256, {1.7, 1.7}}, {512, {5, 5}}});
  add_scaling(comparison, "yarn", {{128, {1.62, 1.63}}, {256, {1.8, 1.8}}, {512, {1, 1}}});
  check_judged(comparison, "ntk-beats-interpolation", is_true,
               "ntk less linear at 256, trained at 64: -1.500");
  check_judged(comparison, "yarn-beats-ntk", is_false, "yarn less ntk at 256");
  check_judged(comparison, "interpolation-needs-tuning", is_true, "linear at 128 less plain rope at 64");
  check_judged(comparison, "interpolation-helps", not_at_this_scale, "linear at 128 less plain rope at 128");
  check_judged(comparison, "logn-helps", needs_comparison);

  add_kind(comparison, "alibi", {{64, {1.7, 1.7}}, {256, {1.7, 1.7}}});
  comparison.config.compare.evaluations.push_back(
      {.name = "sharper", .changes = {{"positional.score.scale", "\"logn\""}}});
  add_results(comparison, "rope", "rope", 64, {{256, {1.80, 1.80}}}, "sharper");
  add_results(comparison, "alibi", "alibi", 64, {{256, {1.71, 1.71}}}, "sharper");
  check_judged(comparison, "logn-helps", is_true, "(rope -0.105 at 256, alibi +0.010 at 256)");

  Comparison other = nothing_trained();
  add_kind(other, "rope", {{64, {1.6, 1.6}}, {128, {2.7, 2.7}}});
  add_scaling(other, "linear", {{128, {1.61, 1.61}}});
  add_scaling(other, "ntk", {{128, {1.8, 1.8}}});
  add_scaling(other, "yarn", {{128, {1.7, 1.7}}});
  other.config.compare.evaluations.push_back(
      {.name = "sharper", .changes = {{"positional.score.scale", "\"logn\""}}});
  add_results(other, "rope", "rope", 64, {{128, {2.8, 2.8}}}, "sharper");
  check_judged(other, "ntk-beats-interpolation", not_at_this_scale);
  check_judged(other, "yarn-beats-ntk", is_true);
  check_judged(other, "interpolation-needs-tuning", not_at_this_scale);
  check_judged(other, "interpolation-helps", is_true);
  check_judged(other, "logn-helps", not_at_this_scale);
}

/// ALiBi, flat without overlap; with full history at the trained length 1.50, at 256 what is given.
Comparison flat_comparison(const Losses& full_at_256, const Losses& cut_at_256) {
  Comparison comparison = nothing_trained();
  add_kind(comparison, "alibi", {{64, {1.60, 1.60}}, {256, {1.53, 1.53}}});
  add_results(comparison, "alibi", "alibi", 64, {{64, {1.50, 1.50}}}, "trained", Protocol::sliding, true, 1);
  add_results(comparison, "alibi", "alibi", 64, {{256, full_at_256}}, "trained", Protocol::sliding, true, 32);
  add_results(comparison, "alibi", "alibi", 64, {{64, {1.60, 1.60}}, {256, cut_at_256}}, "trained",
              Protocol::nonoverlapping, true);
  return comparison;
}

TEST_CASE("claims: what a flat perplexity shows, and early tokens" * needs({"alibi", "rope"})) {
  // Predicted at 256: 1.50 + 0.10 / 4.
  const Comparison unused = flat_comparison({1.501, 1.502}, {1.53, 1.531});
  check_judged(unused, "flat-means-context", is_false, "with full history at both it gains -0.0015");
  check_judged(unused, "alibi-early-tokens", is_true,
               "alibi at 256, trained at 64: observed less predicted +0.006");
  const Comparison used = flat_comparison({1.45, 1.451}, {1.45, 1.451});
  check_judged(used, "flat-means-context", is_true);
  check_judged(used, "alibi-early-tokens", not_at_this_scale);
  // By the number of windows: of pieces of 100 targets 2 windows of 64, and 1 of 256.
  Comparison pieces = flat_comparison({1.5, 1.5}, {1.5502, 1.5502});
  for (FinishedCell& cell : pieces.cells) {
    for (RecordedResult& recorded : cell.record.results) {
      EvaluationResult& result = recorded.result;
      if (result.cell.subset) result.segments.assign(10, {100 * result.nll, 100});
    }
  }
  check_judged(pieces, "alibi-early-tokens", is_true, "observed less predicted +0.000");
  Comparison steep = nothing_trained();
  add_kind(steep, "rope", {{64, {1.6}}, {256, {2.6}}});
  add_results(steep, "rope", "rope", 64, {{64, {1.5}}}, "trained", Protocol::sliding, true, 1);
  add_results(steep, "rope", "rope", 64, {{256, {2.5}}}, "trained", Protocol::sliding, true, 32);
  check_judged(steep, "flat-means-context", needs_comparison, "no model here stays flat; the flattest, rope");
}

TEST_CASE("claims: trained short, tested long" * needs({"alibi", "sinusoidal"})) {
  const auto grid = [](double alibi) {
    Comparison comparison = nothing_trained();
    for (const auto& [kind, length] : std::map<std::string, Index>{{"alibi", 64}, {"sinusoidal", 256}}) {
      comparison.config.compare.variants.push_back(
          {.name = kind + " grid",
           .changes = {{"positional.kind", "\"" + kind + "\""}, {"train.length", std::to_string(length)}}});
    }
    add_results(comparison, "alibi grid", "alibi", 64, {{64, {1.7, 1.7}}, {256, {alibi, alibi + 0.01}}});
    add_results(comparison, "sinusoidal grid", "sinusoidal", 256, {{256, {1.65, 1.66}}});
    return comparison;
  };
  check_judged(grid(1.6), "train-short-test-long", is_true,
               "alibi grid trained at 64 less sinusoidal grid trained at 256, both at 256");
  check_judged(grid(1.8), "train-short-test-long", not_at_this_scale);
}

}  // namespace
}  // namespace tapeline::test
