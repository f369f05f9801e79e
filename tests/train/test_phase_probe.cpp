#include <doctest/doctest.h>
#include <signal.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/error.h"
#include "tests/support/stop_signal.h"
#include "tests/train/evaluation_scene.h"
#include "train/phase_probe.h"
#include "train/probe_run.h"

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

/// How often each position of a window, from 1, has its target scored.
std::map<Index, Index> scored_by_position(const std::vector<EvaluationWindow>& windows) {
  std::map<Index, Index> times;
  for (const EvaluationWindow& window : windows) {
    for (Index i = 1; i <= window.scored; ++i) ++times[window.inputs - window.scored + i];
  }
  return times;
}

TEST_CASE("phase: the shifted grid scores every target once, each position as often as the other grid") {
  const ScoredSet set = scored_set({{0, 4096}, {5000, 4096}}, 512);
  for (const Index length : {16, 64, 512}) {
    CAPTURE(length);
    const std::vector<EvaluationWindow> shifted = shifted_windows(set, length),
                                        plain = evaluation_windows(set, plain_windows(length));
    CHECK(shifted.size() == plain.size() + set.segments.size());
    CHECK(scored_by_position(shifted) == scored_by_position(plain));
    // The cuts lie half a window beside those of the other grid.
    for (const EvaluationWindow& window : shifted) {
      const Index from_segment =
          window.begin + 1 - set.segments[static_cast<std::size_t>(window.segment)].begin;
      CHECK((from_segment + length) % length == length / 2);
    }
  }
  // Whatever the length: every target once, nothing from before the text.
  const ScoredSet hard{.segments = {{0, 1, 19}, {30, 62, 32}, {100, 103, 7}}, .longest = 0};
  for (const Index length : {1, 2, 3, 8, 15, 16, 32, 50}) {
    CAPTURE(length);
    std::vector<int> times(120, 0);
    for (const EvaluationWindow& window : shifted_windows(hard, length)) {
      CHECK(window.inputs <= length);
      CHECK(window.scored <= window.inputs);
      CHECK(window.begin >= hard.segments[static_cast<std::size_t>(window.segment)].history_begin);
      const Index end = window.begin + window.inputs + 1;
      for (Index target = end - window.scored; target < end; ++target)
        ++times[static_cast<std::size_t>(target)];
    }
    for (Index target = 0; target < 120; ++target) {
      const bool wanted = std::ranges::any_of(hard.segments, [&](const ScoredSegment& s) {
        return target >= s.begin && target < s.begin + s.count;
      });
      CHECK(times[static_cast<std::size_t>(target)] == (wanted ? 1 : 0));
    }
  }
}

double figure_of(const ProbeResult& result, const std::string& quantity) {
  REQUIRE(result.find(quantity) != nullptr);
  return result.find(quantity)->value;
}

/// Summed nats of windows of 64 side by side over one segment.
double total_over(const EvaluationScene& scene, Index begin, Index count) {
  EvaluationPlan plan;
  plan.scored.segments = {{0, begin, count}};
  const EvaluationResult result =
      evaluate_cell(scene.model, scene.store, *scene.tokenizer, plan, plain_windows(64));
  return result.nll * static_cast<double>(result.scored_tokens);
}

TEST_CASE("phase: the loss of the windows that begin half a window earlier, less that of those as they are") {
  for (const std::string& kind : unlimited_kinds()) {
    CAPTURE(kind);
    EvaluationScene scene(kind);
    scene.plan.scored.segments = {{0, 1025, 512}};
    const std::vector<EvaluationResult> evaluations{scene.run(plain_windows(16)),
                                                    scene.run(plain_windows(64))};
    ProbeSubject subject = scene.subject();
    CHECK_THROWS_AS(run_probe({"phase", 64}, subject), StateError);
    subject.evaluations = evaluations;
    const ProbeResult found = run_probe({"phase", 64}, subject);
    CHECK(found.status == "ok");
    CHECK(found.find("nll")->tokens == 512);
    CHECK(found.find("delta_nll")->tokens == 512);
    // All of the 9 windows from half a window before, without the first half of the first and the second of
    // the last.
    const double whole = total_over(scene, 1025 - 32, 576), before = total_over(scene, 1025 - 32, 32),
                 after = total_over(scene, 1505, 64) - total_over(scene, 1505, 32);
    CHECK(figure_of(found, "nll") == doctest::Approx((whole - before - after) / 512).epsilon(1e-5));
    CHECK(figure_of(found, "delta_nll") == figure_of(found, "nll") - evaluations[1].nll);
    CHECK(std::abs(figure_of(found, "delta_nll")) > 1e-6);
    EvaluationOptions chunks;
    chunks.chunk = 24;
    CHECK(figure_of(run_probe({"phase", 64}, subject, chunks), "nll") ==
          doctest::Approx(figure_of(found, "nll")).epsilon(1e-5));
  }
}

TEST_CASE("phase: a length that the encoding refuses, weights that are no numbers, a signal" *
          test::needs({"learned"})) {
  EvaluationScene scene("learned");
  CHECK(run_probe({"phase", 64}, scene.subject()).status == "refused");
  const std::vector<EvaluationResult> evaluations{scene.run(plain_windows(16))};
  ProbeSubject subject = scene.subject();
  subject.evaluations = evaluations;
  EvaluationOptions options;
  double before = 0;
  options.progress = [&](double share) {
    CHECK(share > before);
    before = share;
  };
  CHECK(run_probe({"phase", 16}, subject, options).status == "ok");
  CHECK(before == doctest::Approx(1));
  {
    const SignalGuard guard;
    test::send_stop_signal(SIGTERM);
    CHECK_THROWS_AS(run_probe({"phase", 16}, subject), Stopped);
    clear_signal();
  }
  scene.model.parameters().parameters().back().mutable_value().data[0] =
      std::numeric_limits<Real>::quiet_NaN();
  const ProbeResult diverged = run_probe({"phase", 16}, subject);
  CHECK(diverged.status == "diverged");
  CHECK_FALSE(diverged.reason.empty());
  CHECK(diverged.figures.empty());
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION
