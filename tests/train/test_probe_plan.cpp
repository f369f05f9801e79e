#include <doctest/doctest.h>

#include "core/error.h"
#include "tests/support/text.h"
#include "tests/train/tiny.h"
#include "train/evaluation_windows.h"
#include "train/preset.h"
#include "train/probe_plan.h"
#include "train/residual.h"

namespace tapeline {
namespace {

std::vector<std::string> told(const Config& config) {
  std::vector<std::string> all;
  for (const ProbeWork& work : probe_plan(config))
    all.push_back(fmt::format("{} {}", work.probe, work.length));
  return all;
}

Config of_preset(const char* name) {
  ConfigSources sources;
  sources.preset = name;
  return resolve_config(sources).config;
}

TEST_CASE("probe plan: what toy measures by default") {
  CHECK(told(of_preset("toy")) == std::vector<std::string>{"residual 128", "residual 256", "residual 512",
                                                           "attention 64", "attention 128", "attention 256",
                                                           "attention 512", "attention 1024"});
}

TEST_CASE("probe plan: paper measures everything, the dear ones at two lengths") {
  const Config config = of_preset("paper");
  CHECK(config.evaluate.probes == probe_names());
  const std::vector<std::string> all = told(config);
  const auto count = [&](std::string_view probe) {
    return std::ranges::count_if(all, [&](const std::string& work) { return work.starts_with(probe); });
  };
  CHECK(count("residual ") == 5);     // above 128, up to 1024
  CHECK(count("in_context ") == 8);   // every length
  CHECK(count("hard_window ") == 7);  // above 128
  CHECK(count("phase ") == 8);
  CHECK(count("attention ") == 8);
  for (const char* work : {"history 128", "history 1024", "shuffle 128", "shuffle 1024"})
    CHECK(std::ranges::count(all, work) == 1);
  CHECK(count("history ") == 2);
  CHECK(count("shuffle ") == 2);
}

TEST_CASE("probe plan: what cannot be measured says why") {
  Config config = of_preset("toy");
  config.evaluate.probes = probe_names();
  for (const std::string& probe : probe_names()) CHECK(why_no_work(config, probe).empty());
  config.evaluate.protocols = {"sliding"};
  CHECK(why_no_work(config, "tail") == "tail: needs non-overlapping windows");
  CHECK(why_no_work(config, "in_context") == "in_context: needs non-overlapping windows");
  CHECK(why_no_work(config, "phase") == "phase: needs non-overlapping windows");
  CHECK(test::contains(why_no_work(config, "residual"), "needs both protocols"));
  config = of_preset("toy");
  config.evaluate.probes = probe_names();
  config.evaluate.lengths = {"64"};
  CHECK(why_no_work(config, "hard_window") == "hard_window: needs a length above the trained 64");
  CHECK_FALSE(why_no_work(config, "residual").empty());
  CHECK(why_no_work(config, "history").empty());
  config.evaluate.lengths = {"1024"};
  CHECK(test::contains(why_no_work(config, "history"), "needs a length up to 512"));
  CHECK(told(config) ==
        std::vector<std::string>{"in_context 1024", "hard_window 1024", "phase 1024", "attention 1024"});
}

TEST_CASE("probe plan: names are checked, all and none stand for lists") {
  const auto probes = [](const std::string& value) {
    ConfigSources sources;
    sources.preset = "toy";
    sources.sets = {{"evaluate.probes", value, "--set"}};
    return resolve_config(sources).config.evaluate.probes;
  };
  CHECK(probes("all") == probe_names());
  CHECK(probes("none").empty());
  CHECK(probes("[]").empty());
  CHECK(probes("tail,history") == std::vector<std::string>{"tail", "history"});
  CHECK_THROWS_WITH_AS(
      probes("histroy"),
      "evaluate.probes (--set) is \"histroy\"; it must be one of positions, tail, residual, "
      "in_context, hard_window, phase, history, shuffle, attention, or all, or none; did you mean "
      "\"history\"?",
      ConfigError);
  CHECK_THROWS_WITH_AS(probes("none,tail"),
                       "evaluate.probes (--set) is \"none,tail\"; \"none\" stands alone, or give names",
                       ConfigError);
}

TEST_CASE("probe plan: what a probe costs") {
  const Config config = of_preset("toy");
  const EvaluationPlan plan = evaluation_plan(config, scored_set({{0, 65536}, {65536, 65536}}, 1024));
  const auto tokens = [&](const char* probe, Index length) {
    Index total = 0;
    for (const WindowTokens& windows : probe_tokens({probe, length}, 64, plan)) total += windows.tokens;
    return total;
  };
  CHECK(plan.probe_targets.tokens() == probe_target_count);
  CHECK(tokens("history", 64) == 256 * (8 + 16 + 32 + 64));
  CHECK(tokens("shuffle", 64) == 256 * 64 * 5);
  CHECK(tokens("hard_window", 512) == plan.scored.tokens());
  CHECK(tokens("phase", 512) == plan.scored.tokens());
  CHECK(tokens("attention", 512) == 4096);
  CHECK(tokens("residual", 512) == 0);
  CHECK(tokens("in_context", 512) == 0);
}

TEST_CASE("single targets: spread over what has enough history, each by itself") {
  const ScoredSet set = scored_set({{0, 65536}, {65536, 65536}}, 1024);
  const ScoredSet targets = single_targets(set, 256, 1024);
  REQUIRE(targets.segments.size() == 256);
  Index in_first = 0;
  for (std::size_t i = 0; i < targets.segments.size(); ++i) {
    const ScoredSegment& target = targets.segments[i];
    CHECK(target.count == 1);
    CHECK(target.begin - target.history_begin >= 1024);
    if (i > 0) CHECK(target.begin > targets.segments[i - 1].begin);
    CHECK(std::ranges::any_of(set.segments, [&](const ScoredSegment& s) {
      return target.begin >= s.begin && target.begin < s.begin + s.count;
    }));
    in_first += target.begin < 65536;
  }
  CHECK(in_first == 128);
  // Without a block of history: the targets that have it, and all where none has.
  const ScoredSet all = scored_all({{0, 100}, {200, 20}});
  const ScoredSet some = single_targets(all, 10, 50);
  CHECK(some.tokens() == 10);
  CHECK(some.segments.front().begin >= 50);
  CHECK(some.segments.back().begin < 100);
  CHECK(single_targets(all, 1000, 50).tokens() == 50);
  CHECK(single_targets(all, 1000, 500).tokens() == 118);
}

EvaluationResult loss_on_subset(Protocol protocol, Index length, Index stride, double nll) {
  EvaluationResult result;
  result.cell = {protocol, length, stride, true};
  result.nll = nll;
  result.scored_tokens = 4096;
  return result;
}

TEST_CASE("residual: observed minus the loss that the curse alone explains") {
  std::vector<EvaluationResult> results{loss_on_subset(Protocol::nonoverlapping, 64, 64, 1.7),
                                        loss_on_subset(Protocol::sliding, 64, 32, 1.65),
                                        loss_on_subset(Protocol::sliding, 64, 1, 1.6),
                                        loss_on_subset(Protocol::nonoverlapping, 256, 256, 1.62)};
  // s = 1.6, g = 0.1, k = 4: 1.625.
  CHECK(*curse_only_residual(results, 64, 256) == doctest::Approx(-0.005).epsilon(1e-9));
  CHECK(*curse_only_residual(results, 64, 64) == doctest::Approx(0).epsilon(1e-12));
  CHECK(curse_only(results, 64, 256)->gap == doctest::Approx(0.1));
  CHECK_FALSE(curse_only_residual(results, 64, 128));
  CHECK_FALSE(curse_only_residual(results, 32, 256));
  const ProbeResult probe = residual_probe(results, 64, 256);
  CHECK(probe.status == "ok");
  CHECK(probe.find("predicted_nll")->value == doctest::Approx(1.625));
  CHECK(probe.find("residual")->tokens == 4096);
  CHECK_THROWS_AS(residual_probe(results, 64, 128), StateError);
  // The paper's own figures (ALiBi, L = 512, per word): 18.83 predicted for twice the length.
  results = {loss_on_subset(Protocol::nonoverlapping, 512, 512, std::log(19.73)),
             loss_on_subset(Protocol::sliding, 512, 1, std::log(17.98)),
             loss_on_subset(Protocol::nonoverlapping, 1024, 1024, std::log(18.81))};
  CHECK(std::exp(curse_only(results, 512, 1024)->predicted) == doctest::Approx(18.83).epsilon(3e-4));
  results.back().status = "refused";
  results.back().reason = "too long";
  CHECK_FALSE(curse_only_residual(results, 512, 1024));
  CHECK(residual_probe(results, 512, 1024).status == "refused");
  CHECK(residual_probe(results, 512, 1024).reason == "too long");
}

/// Of a model that loses 1.6 nats a target, and 5 more on the first target of each window.
EvaluationResult cursed_result(const ScoredSet& subset, const EvaluationCell& cell) {
  EvaluationResult result;
  result.cell = cell;
  result.segments.resize(subset.segments.size());
  for (const EvaluationWindow& window : evaluation_windows(subset, cell)) {
    SegmentLoss& segment = result.segments[static_cast<std::size_t>(window.segment)];
    segment.total += 1.6 * static_cast<double>(window.scored);
    if (window.scored == window.inputs) segment.total += 5;
    segment.tokens += window.scored;
  }
  double total = 0;
  for (const SegmentLoss& segment : result.segments) {
    total += segment.total;
    result.scored_tokens += segment.tokens;
  }
  result.scored_bytes = result.scored_tokens;
  finish_result(result, total);
  return result;
}

TEST_CASE("residual: none where the first targets of windows are all there is, whether they divide or not") {
  // As preset paper has it: 1.5 and 3 times 128, in pieces of 1,024.
  const ScoredSet subset = scored_subset(scored_set({{0, 65536}, {65536, 65536}}, 4096), 16384, 1024);
  const Index trained = 128;
  std::vector<EvaluationResult> results{cursed_result(subset, {Protocol::sliding, trained, 1, true})};
  for (const Index length : {128, 192, 256, 384, 500, 1000, 1024})
    results.push_back(cursed_result(subset, {Protocol::nonoverlapping, length, length, true}));
  CHECK(results.front().nll == doctest::Approx(1.6).epsilon(1e-12));
  for (const Index length : {128, 192, 256, 384, 500, 1000, 1024}) {
    CAPTURE(length);
    CHECK(std::abs(*curse_only_residual(results, trained, length)) < 1e-12);
  }
  CHECK(curse_only(results, trained, 192)->share == 6.0 / 8);  // not 1 / 1.5
  CHECK(curse_only(results, trained, 384)->share == 3.0 / 8);
  CHECK(share_of_gap({{1, 1024}, {1, 100}}, 128, 192) == 7.0 / 9);
  CHECK(share_of_gap({}, 128, 192) == 128.0 / 192);
}

}  // namespace
}  // namespace tapeline
