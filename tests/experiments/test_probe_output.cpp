#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "experiments/evaluation_output.h"
#include "experiments/position_table.h"
#include "experiments/probe_output.h"
#include "experiments/table.h"
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

/// What an evaluation with every probe may have to say, in figures as wide as they come.
EvaluationReport wide_report() {
  EvaluationReport report{.checkpoint = "runs/train-toy/checkpoints/step-00012000.h5",
                          .kind = "rope",
                          .settings = "rope.scaling = \"yarn\", rope.factor = 64",
                          .train_length = 1024,
                          .step = 12000,
                          .text = "kjv",
                          .text_digest = "",
                          .targets = 36864,
                          .chosen_for = 65536,
                          .results = {}};
  for (Index length = 1024; length <= 65536; length *= 2) {
    for (const bool subset : {false, true}) {
      EvaluationResult result;
      result.cell = {subset ? Protocol::sliding : Protocol::nonoverlapping, length, subset ? 512 : length,
                     subset};
      result.scored_tokens = 36864;
      result.short_windows = 1;
      result.nll = result.bits_per_byte = result.tail_nll = 10.1234;
      result.perplexity = 24919.4321;
      result.tokens_per_second = 12345;
      result.positions = {{1, 1, 36864, 10.1234}, {length, length, 36864, 10.1234}};
      result.segments.assign(16, {10.1, 1});
      report.results.push_back(std::move(result));
    }
    report.probes.push_back(
        probe_with("residual", length,
                   {{"residual", 0, -1, -1, 36864, -10.1234}, {"predicted_nll", 0, -1, -1, 36864, 10.1234}}));
    report.probes.push_back(probe_with("in_context", length,
                                       {{"early_nll", 0, -1, -1, 36864, 10.1234},
                                        {"late_nll", 0, -1, -1, 36864, 10.1234},
                                        {"score", 0, -1, -1, 36864, -10.1234}}));
    report.probes.push_back(
        probe_with("hard_window", length,
                   {{"nll", 0, -1, -1, 36864, 10.1234}, {"tail_nll", 0, -1, -1, 36864, 10.1234}}));
    report.probes.push_back(probe_with(
        "phase", length, {{"nll", 0, -1, -1, 36864, 10.1234}, {"delta_nll", 0, -1, -1, 36864, -10.1234}}));
    std::vector<ProbeFigure> heads;
    for (const auto& [quantity, value] :
         std::vector<std::pair<std::string, double>>{{"entropy", 10.12},
                                                     {"normalized_entropy", 0.99},
                                                     {"sink_mass", 0.123},
                                                     {"distance", 12345.1},
                                                     {"normalized_distance", 0.5}})
      heads.push_back({quantity, 0, 0, 0, 4096, value});
    report.probes.push_back(probe_with("attention", length, heads));
  }
  return report;
}

TEST_CASE("evaluate's tables fit a terminal of 80 columns, and lose no figure") {
  const EvaluationReport report = wide_report();
  const std::string narrow = evaluation_table(report, 80), wide = evaluation_table(report, 0);
  std::istringstream lines(narrow);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK(display_width(line) <= 80);
  }
  // Every number that stands in the one stands in the other, as often.
  const auto numbers = [](const std::string& text) {
    std::map<std::string, int> found;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
      if (word.find_first_of("0123456789") != std::string::npos) ++found[word];
    }
    return found;
  };
  CHECK(numbers(narrow) == numbers(wide));
  CHECK(contains(wide, "nats/token"));
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
