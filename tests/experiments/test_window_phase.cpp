#include <doctest/doctest.h>

#include "experiments/probe_output.h"
#include "experiments/report/window_phase_table.h"
#include "experiments/window_phase.h"
#include "tests/experiments/comparison_samples.h"
#include "tests/support/text.h"

namespace tapeline::test {
namespace {

using Row = std::vector<std::string>;

EvaluationCell plain_cell(Index length) { return {Protocol::nonoverlapping, length, length, false}; }

/// Segments of 100 targets about this mean, 0.1 nats to either side of it.
EvaluationResult evaluation_of(Index length, double nll, std::size_t segments) {
  EvaluationResult result = sample_result(plain_cell(length), nll, static_cast<Index>(100 * segments));
  result.segments.clear();
  for (std::size_t i = 0; i < segments; ++i)
    result.segments.push_back({100 * (nll + (i % 2 == 0 ? 0.1 : -0.1)), 100});
  return result;
}

ProbeResult phase_probe_of(Index length, double nll, double difference) {
  ProbeResult result;
  result.probe = "phase";
  result.length = length;
  result.figures = {{"nll", 0, -1, -1, 1000, nll}, {"delta_nll", 0, -1, -1, 1000, difference}};
  return result;
}

TEST_CASE("window phase: the shifted loss beside the bootstrap interval over the text") {
  const EvaluationResult evaluation = evaluation_of(64, 1.6, 36);
  const WindowPhase near = window_phase(phase_probe_of(64, 1.61, 0.01), &evaluation);
  REQUIRE(near.can_tell());
  CHECK(near.over_text.blocks == 36);
  CHECK(near.over_text.lower < 1.6);
  CHECK(near.over_text.lower > 1.5);
  CHECK(near.inside());
  CHECK_FALSE(window_phase(phase_probe_of(64, 1.7, 0.1), &evaluation).inside());
  CHECK_FALSE(window_phase(phase_probe_of(64, 1.5, -0.1), &evaluation).inside());
  CHECK_FALSE(window_phase(phase_probe_of(64, 1.61, 0.01), nullptr).can_tell());
  const EvaluationResult few = evaluation_of(64, 1.6, 7);
  CHECK_FALSE(window_phase(phase_probe_of(64, 1.61, 0.01), &few).can_tell());
}

TEST_CASE("window phase: in the terminal, with counts, difference and whether it lies inside") {
  const std::vector<EvaluationResult> evaluations{evaluation_of(64, 1.6, 36), evaluation_of(128, 1.5, 36),
                                                  evaluation_of(256, 1.4, 1)};
  ProbeResult refused = phase_probe_of(512, 1, 0);
  refused.status = "refused";
  const std::string text = probe_tables(
      {phase_probe_of(64, 1.61, 0.01), phase_probe_of(128, 1.75, 0.25), phase_probe_of(256, 1.4, 0), refused},
      evaluations, 0);
  CHECK(contains(text, "phase: "));
  CHECK(contains(text, "+0.0100"));
  CHECK(contains(text, "1.7500"));
  CHECK(contains(text, "  yes\n"));
  CHECK(contains(text, "  no\n"));
  CHECK(contains(text, "refused"));
  CHECK(contains(text, "1000"));
}

TEST_CASE(
    "window phase: in the report a table of differences, those outside marked, and how many lie inside") {
  Comparison comparison = sample_comparison(2);
  CHECK(window_phase_table(comparison, series_of(comparison)).rows.empty());
  for (FinishedCell& cell : comparison.cells) {
    for (RecordedResult& recorded : cell.record.results) {
      EvaluationResult& result = recorded.result;
      if (result.status == "ok" && result.cell.on_whole_set())
        result.segments = evaluation_of(result.cell.length, result.nll, 36).segments;
    }
    for (const Index length : {64, 128}) {
      ProbeResult probe = phase_probe_of(length, 0, length == 64 ? 0.001 : 0.5);
      const EvaluationResult* beside = cell.record.find("trained", plain_cell(length));
      probe.status = beside->status;
      probe.figures[0].value = beside->nll + probe.figures[1].value;
      if (probe.status != "ok") probe.figures.clear();
      add_probe(cell, std::move(probe));
    }
  }
  const ReportTable table = window_phase_table(comparison, series_of(comparison));
  CHECK(table.header == Row{"encoding", "64 (1×)", "128 (2×)"});
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0] == Row{"rope", "0.0014 ±0.0000", "0.7213 ±0.0000 (outside)"});
  CHECK(table.rows[1] == Row{"learned", "0.0014 ±0.0000", "n/a"});
  CHECK(contains(table.notes[1], "4 of 6 losses on the shifted grid lie in"));
}

}  // namespace
}  // namespace tapeline::test
