#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "experiments/evaluation_run.h"
#include "tests/support/kinds.h"
#include "tests/support/text.h"
#include "tests/train/evaluation_scene.h"
#include "train/probe_plan.h"

namespace tapeline {
namespace {

/// The percentage in "… · 42% of everything · …".
double percent(const std::string& text) {
  const std::size_t end = text.find("% of everything");
  REQUIRE(end != std::string::npos);
  const std::size_t begin = text.rfind(' ', end) + 1;
  return std::stod(text.substr(begin, end - begin));
}

TEST_CASE("evaluation counter: one count over evaluations and probes, from nothing to everything") {
  EvaluationScene scene(test::any_kind());
  scene.config.evaluate.lengths = {"1x"};
  scene.config.evaluate.probes = {"positions", "in_context", "history", "attention"};
  scene.plan.cells = {{Protocol::nonoverlapping, 16, 16, false}, {Protocol::sliding, 16, 1, true}};
  const std::vector<ProbeWork> probes = probe_plan(scene.config);
  const auto running = std::ranges::count_if(
      probes, [](const ProbeWork& work) { return !follows_from_evaluations(work.probe); });
  REQUIRE(running == 2);
  EvaluationCounter counter({scene.model, scene.store, *scene.tokenizer, scene.config, scene.plan});
  counter.begin("length 16, non-overlapping");
  const std::string first = counter.text(0);
  CHECK(first.starts_with("[1/4] length 16, non-overlapping · 0% of everything · "));
  CHECK(first.ends_with(" left"));
  CHECK(test::contains(first, "? left"));  // nothing is done: nothing is known
  const double half = percent(counter.text(0.5)), whole = percent(counter.text(1));
  CHECK(half < whole);
  CHECK_FALSE(test::contains(counter.text(0.5), "?"));
  counter.begin("length 16, sliding, stride 1");
  CHECK(counter.text(0).starts_with("[2/4]"));
  CHECK(percent(counter.text(0)) == whole);
  counter.begin("probe history at length 16");
  CHECK(percent(counter.text(0)) > whole);
  counter.begin("probe attention at length 16");
  CHECK(counter.text(1).starts_with("[4/4] probe attention at length 16 · 100% of everything · 0s left"));
}

}  // namespace
}  // namespace tapeline
