#pragma once

#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "experiments/compare/comparison.h"
#include "experiments/compare/results.h"
#include "experiments/compare/summary.h"

namespace tapeline::test {

inline EvaluationResult sample_result(EvaluationCell cell, double nll, Index tokens = 1000) {
  EvaluationResult result;
  result.cell = cell;
  result.scored_tokens = result.scored_bytes = tokens;
  result.nll = nll;
  result.bits_per_byte = nll / std::numbers::ln2;
  result.perplexity = std::exp(nll);
  result.tail_nll = cell.protocol == Protocol::sliding ? std::numeric_limits<double>::quiet_NaN() : nll + 0.1;
  result.tokens_per_second = 12345.4;
  if (cell.protocol == Protocol::nonoverlapping && !cell.subset) {
    for (Index at = 1; at <= cell.length; at *= 2) result.positions.push_back({at, at, 10, nll + 0.5 / at});
    result.segments = {{nll * 500, 500}, {nll * 500, 500}};
  }
  return result;
}

inline EvaluationResult refused_result(EvaluationCell cell) {
  EvaluationResult result;
  result.cell = cell;
  result.status = "refused";
  result.reason = "learned positions end at 64";
  return result;
}

/// rope and learned, trained at 64, evaluated at 64 and 128; `seeds` of each. rope loses 0.5 nats at 128.
inline Comparison sample_comparison(Index seeds) {
  Comparison comparison;
  comparison.config.compare.seeds = seeds;
  comparison.config.compare.encodings = {"rope", "learned"};
  comparison.command = "tapeline compare --preset toy --text 'my text.txt'";
  comparison.text_source = "my text.txt";
  comparison.text_digest = "0123abcd";
  comparison.text_tokens = 1234567;
  comparison.scored_tokens = 1000;
  comparison.threads = 2;
  for (Index seed = 0; seed < seeds; ++seed) {
    const double shift = 0.01 * static_cast<double>(seed);
    FinishedCell rope{"rope", "rope", static_cast<std::uint64_t>(seed), 64, {}};
    rope.record.training = "done";
    rope.record.parameters = 826368;
    rope.record.training_loss = 1.5;
    rope.record.tokens_per_second = 40000;
    rope.record.complete = true;
    FinishedCell learned = rope;
    learned.variant = learned.kind = "learned";
    const auto add = [](FinishedCell& cell, const EvaluationResult& result) {
      cell.record.results.push_back({"trained", result});
    };
    add(rope, sample_result({Protocol::nonoverlapping, 64, 64, false}, 1.6 + shift));
    add(rope, sample_result({Protocol::nonoverlapping, 128, 128, false}, 2.1 + shift));
    add(rope, sample_result({Protocol::nonoverlapping, 64, 64, true}, 1.61 + shift, 100));
    add(rope, sample_result({Protocol::sliding, 64, 32, true}, 1.55 + shift, 100));
    add(learned, sample_result({Protocol::nonoverlapping, 64, 64, false}, 1.7 + 2 * shift));
    add(learned, refused_result({Protocol::nonoverlapping, 128, 128, false}));
    comparison.cells.push_back(rope);
    comparison.cells.push_back(learned);
  }
  return comparison;
}

inline std::vector<Series> series_of(const Comparison& comparison) {
  return summarize(result_rows(comparison.cells));
}

}  // namespace tapeline::test
