#include <doctest/doctest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "core/files.h"
#include "experiments/compare/budget.h"
#include "tests/experiments/small_comparison.h"
#include "tests/support/kinds.h"
#include "tests/support/text.h"
#include "train/run_folder.h"

/// compare --budget: seeds and steps that fit a time.
namespace tapeline {
namespace {

using test::contains;
using test::SmallComparison;

TEST_CASE("budget: seeds first, with at least the fewest steps; then steps; one seed may have fewer") {
  // A seed: 10 s of evaluation and 0.1 s a step.
  const ComparisonCost cost{0, 0, 10, 0.1};
  const BudgetLimits limits{3, 700, 600};
  const auto fit = [&](double seconds) { return fit_budget(seconds / 0.95, cost, limits); };
  const auto check = [](const BudgetChoice& choice, Index seeds, Index steps) {
    CHECK(choice.seeds == seeds);
    CHECK(choice.steps == steps);
  };
  check(fit(1e6), 3, 700);      // never more than asked for
  check(fit(240.001), 3, 700);  // 3 (10 + 70)
  check(fit(239), 3, 690);      // in tens
  check(fit(210.001), 3, 600);  // 3 (10 + 60)
  check(fit(209), 2, 700);
  check(fit(140.001), 2, 600);
  check(fit(139), 1, 700);
  check(fit(79.01), 1, 690);
  check(fit(45.01), 1, 350);
  check(fit(40.001), 1, 300);  // half of the fewest
  const BudgetChoice none = fit(39);
  CHECK(none.seeds == 0);
  CHECK(none.seconds == doctest::Approx(40 / 0.95));
  CHECK(fit_budget(none.seconds + 1e-6, cost, limits).seeds == 1);
  CHECK(fit(1).seeds == 0);

  // What was asked for below the fewest steps is taken as it is.
  check(fit_budget(1e6, cost, {2, 50, 600}), 2, 50);
  check(fit_budget((2 * 15 + 0.001) / 0.95, cost, {2, 50, 600}), 2, 50);
  check(fit_budget((2 * 15 - 1) / 0.95, cost, {2, 50, 600}), 1, 50);
  check(fit_budget(13.01 / 0.95, cost, {2, 50, 600}), 1, 30);
  check(fit_budget(12 / 0.95, cost, {2, 50, 600}), 0, 0);
  // A sweep is paid once.
  check(fit_budget(1000 / 0.95, {100, 0.2, 10, 0.1}, limits), 3, 700);
  check(fit_budget(400.01 / 0.95, {100, 0.2, 10, 0.1}, limits), 2, 700);
}

TEST_CASE("budget: the cost by seeds and steps is that of the comparison laid out with them") {
  for (const char* sweep : {"[]", "0.5,1,2"}) {
    CAPTURE(std::string(sweep));
    const auto config = [&](const std::string& seeds, const std::string& steps) {
      ConfigSources sources;
      sources.preset = "smoke";
      sources.sets = {
          {"compare.encodings", "[]", "--set"},
          {"compare.variant",
           "[{name = \"plain\", model.bias = true}, {name = \"short\", train.steps = 20}, {name = "
           "\"longer\", train.length = 64}]",
           "--set"},
          {"compare.sweep", sweep, "--set"},
          {"compare.seeds", seeds, "--set"},
          {"train.steps", steps, "--set"}};
      return resolve_config(sources);
    };
    const VariantSpeeds speeds = {
        {"plain", {0.01, 1e-12}}, {"short", {0.03, 2e-12}}, {"longer", {0.02, 3e-12}}};
    const ResolvedConfig asked = config("4", "250");
    const ComparisonCost cost = comparison_cost(asked.config, lay_out(asked, 1 << 22, 256), speeds);
    for (const Index seeds : {1, 3}) {
      for (const Index steps : {100, 240}) {
        const Layout layout = lay_out(config(std::to_string(seeds), std::to_string(steps)), 1 << 22, 256);
        CHECK(cost.seconds(seeds, steps) == doctest::Approx(whole_time(layout, speeds).total()));
      }
    }
  }
}

/// Steps that take no time beside their saving, which is done rarely here.
std::vector<std::string> with_steps(Index steps, std::vector<std::string> more = {}) {
  more.insert(more.end(),
              {"--set", "train.steps=" + std::to_string(steps), "--set", "train.checkpoint_every=100"});
  return more;
}
constexpr Index far_too_many = 1000000;

TEST_CASE("compare --budget: what was chosen stands in the folder, and the same command goes on with it" *
          test::needs({"alibi"})) {
  const SmallComparison small("alibi", 2);
  const pid_t child = small.start("out", with_steps(far_too_many, {"--budget", "1s"}));
  for (int i = 0; i < 400 && !std::filesystem::exists(small / "out/cells/alibi-seed0/checkpoints/latest");
       ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  kill(child, SIGKILL);
  SmallComparison::wait(child);
  CHECK(contains(small.messages(), "--budget 1s: "));
  const std::string config_text = read_file(small / "out/config.toml");
  const Config chosen = parse_resolved(config_text, {}, "out", StoredFor::comparison).config;
  CHECK(chosen.train.steps < far_too_many);
  CHECK(chosen.train.steps >= 50);
  CHECK(contains(config_text, "# compare.seeds: --budget 1s\n"));
  CHECK(contains(config_text, "# train.steps: --budget 1s\n"));

  CHECK(small.run("out", with_steps(far_too_many)) == 2);
  CHECK(contains(small.messages(), "train.steps"));
  CHECK(small.run("out", with_steps(far_too_many, {"--budget", "2s"})) == 2);
  CHECK(contains(small.messages(), "was begun with --budget 1s"));
  CHECK(small.run("out", with_steps(far_too_many, {"--budget", "1s", "--set", "optimizer.lr=1e-4"})) == 2);
  CHECK(contains(small.messages(), "optimizer.lr"));

  REQUIRE_MESSAGE(small.run("out", with_steps(far_too_many, {"--budget", "1s"})) == 0, small.messages());
  CHECK_FALSE(contains(small.messages(), "--budget 1s: "));  // nothing is chosen again
  CHECK(read_file(small / "out/config.toml") == config_text);
  REQUIRE_MESSAGE(small.run("same", with_steps(chosen.train.steps)) == 0, small.messages());
  // As many of the two seeds as were chosen, each as it would have come out without a budget.
  CHECK(small.results("same").starts_with(small.results("out")));
  CHECK(small.run("same", with_steps(chosen.train.steps, {"--budget", "1s"})) == 2);
  CHECK(contains(small.messages(), "was begun without --budget"));
}

TEST_CASE("compare --budget: too short a time is refused with what is needed, and leaves nothing" *
          test::needs({"alibi"})) {
  const SmallComparison small("alibi");
  CHECK(small.run("out", {"--set", "train.steps=100000000", "--budget", "0.001s"}) == 2);
  CHECK(contains(small.messages(), "one seed of 50 steps, the least to compare by, takes about"));
  CHECK(contains(small.messages(), "give --budget "));
  CHECK(small.run("out", {"--budget", "1h", "--cells", "1/2"}) == 2);
  CHECK(contains(small.messages(), "--budget 1h does not go with --cells 1/2"));
  CHECK(small.run("out", {"--budget", "soon"}) == 2);
  CHECK_FALSE(std::filesystem::exists(small / "out"));
  REQUIRE_MESSAGE(small.run("out", {"--budget", "1h", "--dry-run"}) == 0, small.messages());
  CHECK(contains(small.output(), "# --budget 1h"));
  CHECK(contains(small.output(), "of training, "));
  CHECK_FALSE(std::filesystem::exists(small / "out"));
}

TEST_CASE("compare says how long it will take, before and when it goes on, unless it is to be quiet" *
          test::needs({"alibi"})) {
  const SmallComparison small("alibi", 2);
  REQUIRE(small.run("quiet", {"--quiet"}) == 0);
  CHECK(small.messages().empty());
  REQUIRE(small.run("out") == 0);
  CHECK(contains(small.messages(), "2 cells: about "));
  CHECK(contains(small.messages(), " on 1 thread, "));
  std::filesystem::remove_all(small / "out/cells/alibi-seed1");
  REQUIRE(small.run("out") == 0);
  CHECK(contains(small.messages(), "1 of 2 cells left: about "));
  REQUIRE(small.run("out") == 0);
  CHECK_FALSE(contains(small.messages(), "about"));
}

}  // namespace
}  // namespace tapeline
