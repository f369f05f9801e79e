#pragma once

#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <utility>
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

/// What the early-token effect is made of: both protocols on the subset at 64 and 128, stride 1 at 64. The
/// gap is 0.1 nats for every model; at 128 rope is 0.3 nats worse than a smaller share of early tokens makes
/// it.
inline void add_early_tokens(Comparison& comparison) {
  for (FinishedCell& cell : comparison.cells) {
    const double level = 1.5 + 0.01 * static_cast<double>(cell.seed);
    std::erase_if(cell.record.results,
                  [](const RecordedResult& recorded) { return recorded.result.cell.subset; });
    const auto add = [&](const EvaluationResult& result) {
      cell.record.results.push_back({"trained", result});
    };
    add(sample_result({Protocol::nonoverlapping, 64, 64, true}, level + 0.1, 100));
    add(sample_result({Protocol::sliding, 64, 1, true}, level, 100));
    add(sample_result({Protocol::sliding, 64, 32, true}, level + 0.02, 100));
    if (cell.variant == "learned") continue;
    add(sample_result({Protocol::nonoverlapping, 128, 128, true}, level + 0.35, 100));
    add(sample_result({Protocol::sliding, 128, 32, true}, level + 0.3, 100));
  }
}

inline void add_probe(FinishedCell& cell, ProbeResult result) {
  cell.record.probes.push_back({"trained", std::move(result)});
}

/// Attention of 2 layers and 2 heads at 64 and, of all but learned, 128. The distance of head h in layer l is
/// (1 + l + h) sixteenths of the length, the normalised entropy 0.5 + 0.1 l + 0.02 h.
inline void add_attention(Comparison& comparison) {
  for (FinishedCell& cell : comparison.cells) {
    for (const Index length : {Index(64), Index(128)}) {
      ProbeResult result;
      result.probe = "attention";
      result.length = length;
      if (cell.variant == "learned" && length > 64) {
        result.status = "refused";
        result.reason = "learned positions end at 64";
      }
      for (Index layer = 0; layer < 2 && result.status == "ok"; ++layer) {
        for (Index head = 0; head < 2; ++head) {
          const auto l = static_cast<double>(layer), h = static_cast<double>(head);
          const auto add = [&](const char* quantity, double value) {
            result.figures.push_back({quantity, 0, layer, head, 1000, value});
          };
          add("entropy", 2 + 0.1 * l);
          add("normalized_entropy", 0.5 + 0.1 * l + 0.02 * h);
          add("sink_mass", 0.25);
          add("distance", static_cast<double>(length) / 16 * (1 + l + h));
        }
      }
      add_probe(cell, std::move(result));
    }
  }
}

/// The other probes, of all but learned: the limit costs 0.2 bits a byte at 128; the loss falls by 0.1 nats
/// with each doubling of the history up to 32 tokens and stays there; shuffling costs 0.4 nats over the
/// tokens kept.
inline void add_context_probes(Comparison& comparison) {
  for (FinishedCell& cell : comparison.cells) {
    const auto begin = [&](const char* probe, Index length) {
      ProbeResult result;
      result.probe = probe;
      result.length = length;
      if (cell.variant == "learned" && length > 64) result.status = "refused";
      return result;
    };
    ProbeResult limited = begin("hard_window", 128), history = begin("history", 128),
                shuffled = begin("shuffle", 128), in_context = begin("in_context", 64);
    if (limited.status == "ok") {
      const double free =
          cell.record.find("trained", {Protocol::nonoverlapping, 128, 128, false})->bits_per_byte;
      limited.figures = {{"bits_per_byte", 0, -1, -1, 1000, free + 0.2}};
      double nll = 1.9;
      for (Index span = 8; span <= 128; span *= 2) {
        history.figures.push_back({"nll", span, -1, -1, 256, nll});
        if (span < 32) nll -= 0.1;
        if (span < 128)
          shuffled.figures.push_back({"delta_nll", span, -1, -1, 256, 0.4 / static_cast<double>(span)});
      }
      history.figures.push_back({"effective_context", 0, -1, -1, 256, 32});
      shuffled.figures.push_back({"delta_nll", 0, -1, -1, 256, 3.5});
    }
    in_context.figures = {{"score", 0, -1, -1, 500, -0.2}};
    for (const ProbeResult& result : {limited, history, shuffled, in_context}) add_probe(cell, result);
  }
}

/// One model each of so many variants, "kind0", "kind1", ..., the later the worse.
inline Comparison many_encodings(Index count) {
  Comparison comparison = sample_comparison(1);
  const FinishedCell one = comparison.cells.front();
  comparison.cells.clear();
  comparison.config.compare.encodings.clear();
  for (Index i = 0; i < count; ++i) {
    FinishedCell cell = one;
    cell.variant = "kind" + std::to_string(i);
    for (RecordedResult& recorded : cell.record.results) {
      const EvaluationResult& result = recorded.result;
      recorded.result = sample_result(result.cell, result.nll + 0.03 * static_cast<double>(i));
    }
    comparison.config.compare.variants.push_back({cell.variant, {}, {{"positional.kind", "\"rope\""}}});
    comparison.cells.push_back(std::move(cell));
  }
  return comparison;
}

inline std::vector<Series> series_of(const Comparison& comparison) {
  return summarize(result_rows(comparison.cells));
}

}  // namespace tapeline::test
