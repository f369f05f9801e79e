#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "experiments/position_table.h"
#include "experiments/probe_output.h"
#include "tests/experiments/shell.h"
#include "tests/support/kinds.h"

namespace tapeline {
namespace {

using namespace test;

ProbeResult probe_with(const char* probe, Index length, std::vector<ProbeFigure> figures) {
  ProbeResult result;
  result.probe = probe;
  result.length = length;
  result.figures = std::move(figures);
  return result;
}

TEST_CASE("probe output: attention is told as a mean over heads with the lowest and the highest") {
  std::vector<ProbeFigure> figures;
  for (Index head = 0; head < 2; ++head) {
    for (const char* quantity :
         {"entropy", "normalized_entropy", "sink_mass", "distance", "normalized_distance"})
      figures.push_back({quantity, 0, 0, head, 4096, head == 0 ? 0.5 : 1.5});
  }
  const std::string text = probe_tables({probe_with("attention", 64, figures)}, {}, 0);
  CHECK(contains(text, "1.00 (0.50 to 1.50)"));
  CHECK(contains(text, "4096"));
  CHECK(contains(text, "entropy nats"));
}

TEST_CASE("probe output: history and shuffle stand by span, refused lengths say so") {
  const ProbeResult near = probe_with("history", 16,
                                      {{"nll", 8, -1, -1, 256, 2.5},
                                       {"nll", 16, -1, -1, 256, 2.25},
                                       {"effective_context", 0, -1, -1, 256, 16}});
  ProbeResult far = probe_with("history", 64, {});
  far.status = "refused";
  const std::string text = probe_tables({near, far}, {}, 0);
  CHECK(contains(text, "256 targets"));
  CHECK(contains(text, "2.5000"));
  CHECK(contains(text, "16 tokens"));
  CHECK(contains(text, "refused"));
  const std::string shuffled = probe_tables({probe_with("shuffle", 16,
                                                        {{"nll", 0, -1, -1, 256, 3.5},
                                                         {"delta_nll", 0, -1, -1, 256, 1.25},
                                                         {"nll", 16, -1, -1, 256, 2.25}})},
                                            {}, 0);
  CHECK(contains(shuffled, "+1.2500"));
  CHECK(contains(shuffled, "2.2500"));
}

TEST_CASE("probe output: the loss by position, doublings together, each target once") {
  EvaluationResult result;
  result.cell = {Protocol::nonoverlapping, 5, 5, false};
  result.positions = {{1, 1, 10, 4}, {2, 2, 10, 3}, {3, 3, 10, 2}, {4, 4, 5, 1}, {5, 5, 5, 0.5}};
  const std::string text = position_table({result}, 0);
  CHECK(contains(text, "length 5"));
  CHECK(contains(text, "1.6667"));  // 3-4: (2 * 10 + 1 * 5) / 15
  CHECK(contains(text, "5-8"));
  result.cell.subset = true;
  CHECK(position_table({result}, 0).empty());
}

TEST_CASE("evaluate --probes: all of them, none of them, some, and no other name" *
          needs({"alibi", "learned"})) {
  const Shell shell;
  REQUIRE(shell("$tapeline train $small --set positional.kind=alibi --out run --quiet").code == 0);
  const Ran all = shell("$tapeline evaluate run --probes all --json");
  CHECK(all.code == 0);
  const auto json = nlohmann::json::parse(all.out);
  std::set<std::string> told;
  for (const auto& probe : json.at("probes")) {
    told.insert(probe.at("probe").get<std::string>());
    CHECK(probe.at("status") == "ok");
    CHECK_FALSE(probe.at("figures").empty());
    for (const auto& figure : probe.at("figures")) {
      CHECK(figure.at("value").is_number());
      CHECK(figure.at("tokens").get<int>() > 0);
    }
  }
  CHECK(told == std::set<std::string>{"attention", "hard_window", "history", "in_context", "phase",
                                      "residual", "shuffle"});
  CHECK(shell("$tapeline evaluate run --probes all --json").out.size() > 0);

  const Ran table = shell("$tapeline evaluate run --probes all");
  CHECK(table.code == 0);
  for (const char* word :
       {"positions: ", "residual: ", "in_context: ", "hard_window: ", "phase: ", "history: ", "shuffle: ",
        "attention: ", "tail nats", "256 targets", "effective context", "no token marks a beginning"}) {
    CAPTURE(std::string(word));
    CHECK(contains(table.out, word));
  }
  CHECK_FALSE(contains(table.out, "not measured"));
  const Ran plain = shell("$tapeline evaluate run --probes none");
  for (const char* word : {"positions: ", "residual: ", "attention: ", "tail nats"})
    CHECK_FALSE(contains(plain.out, word));
  const Ran usual = shell("$tapeline evaluate run");
  CHECK(contains(usual.out, "attention: "));
  CHECK_FALSE(contains(usual.out, "history: "));

  const Ran less = shell("$tapeline evaluate run --probes residual,tail --protocol sliding");
  CHECK(less.code == 0);
  CHECK(contains(less.out, "not measured:\ntail: needs non-overlapping windows\nresidual: needs both"));
  check_refused(shell("$tapeline evaluate run --probes histroy"), 2, {"did you mean \"history\"?"});
  // History at 2x only where sliding reaches so far.
  const auto lengths = [&](const std::string& words) {
    std::vector<int> found;
    const Ran ran = shell("$tapeline evaluate run --probes history --json " + words);
    const auto json_of_run = nlohmann::json::parse(ran.out);
    for (const auto& probe : json_of_run.at("probes")) found.push_back(probe.at("eval_length"));
    return found;
  };
  CHECK(lengths("") == std::vector<int>{16, 32});
  CHECK(lengths("--sliding-up-to 1x") == std::vector<int>{16});
  CHECK(lengths("--lengths 1x,2x,4x --sliding-up-to 4x") == std::vector<int>{16, 64});

  REQUIRE(shell("$tapeline train $small --set positional.kind=learned --out short --quiet").code == 0);
  const Ran refused = shell("$tapeline evaluate short --probes all --json");
  CHECK(refused.code == 0);
  const auto of_refused = nlohmann::json::parse(refused.out);
  for (const auto& probe : of_refused.at("probes"))
    CHECK(probe.at("status") == (probe.at("eval_length") == 16 ? "ok" : "refused"));
}

}  // namespace
}  // namespace tapeline
