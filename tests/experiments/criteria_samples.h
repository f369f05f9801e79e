#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "experiments/compare/comparison.h"
#include "experiments/criteria/criterion.h"

/// A made-up comparison in which every criterion of its set of thresholds holds, to be spoilt one by one.
namespace tapeline::test {

struct CriteriaSample {
  std::string thresholds = "toy-1";
  std::vector<std::string> kinds = {"learned", "sinusoidal", "rope", "alibi"};
  Index seeds = 3;
  std::vector<double> times = {1, 2, 4, 8, 16};
  Index train_length = 64;
  /// Called with every evaluation that is about to be recorded.
  std::function<void(const std::string& kind, std::uint64_t seed, EvaluationResult& result)> change = {};

  Comparison make() const;
};

namespace detail {

/// What a kind loses past its trained length, nats a byte, with full history.
inline double lost_far_out(const std::string& kind, double times) {
  const double doublings = std::log2(std::max(1.0, times));
  return kind == "sinusoidal" ? 0.25 * doublings : kind == "rope" ? 0.1 * doublings : 0;
}

/// A little noise of its own for each seed, kind and length, beside what a seed has for all.
inline double seed_noise(const std::string& kind, std::uint64_t seed, Index length) {
  const double own =
      static_cast<double>((kind.size() * 7 + seed * 13 + static_cast<std::uint64_t>(length)) % 11);
  return 0.01 * static_cast<double>(seed) + 0.0002 * (own - 5);
}

inline double sample_loss(const std::string& kind, std::uint64_t seed, const EvaluationCell& cell,
                          Index train_length) {
  constexpr double gap = 0.06;
  const double times = static_cast<double>(cell.length) / static_cast<double>(train_length);
  double loss = 1.48 + 0.005 * static_cast<double>(kind.size() % 4) + lost_far_out(kind, times) +
                seed_noise(kind, seed, cell.length);
  if (cell.protocol == Protocol::nonoverlapping) loss += gap / times;
  return loss;
}

/// `count` segments of `tokens` that have this mean, some easier, some harder.
inline std::vector<SegmentLoss> sample_segments(double nll, std::size_t count, Index tokens) {
  std::vector<SegmentLoss> segments;
  for (std::size_t i = 0; i < count; ++i) {
    const double level = nll + (i % 2 == 0 ? 0.1 : -0.1) * (1 + static_cast<double>(i / 2 % 3));
    segments.push_back({level * static_cast<double>(tokens), tokens});
  }
  return segments;
}

/// The pieces of the subset hold its longest window, 8 times the trained length.
inline EvaluationResult sample_evaluation(const EvaluationCell& cell, double nll, Index train_length) {
  EvaluationResult result;
  result.cell = cell;
  result.segments = sample_segments(nll, cell.subset ? 8 : 36, cell.subset ? 8 * train_length : 1024);
  for (const SegmentLoss& segment : result.segments) result.scored_tokens += segment.tokens;
  result.scored_bytes = result.scored_tokens;
  double total = 0;
  for (const SegmentLoss& segment : result.segments) total += segment.total;
  finish_result(result, total);
  return result;
}

}  // namespace detail

/// Moves an evaluation's loss by so many nats, its segments and tail with it.
inline void add_loss(EvaluationResult& result, double nats) {
  double total = 0;
  for (SegmentLoss& segment : result.segments) {
    segment.total += nats * static_cast<double>(segment.tokens);
    total += segment.total;
  }
  result.tail_nll += nats;
  finish_result(result, total);
}

inline Comparison CriteriaSample::make() const {
  Comparison comparison;
  comparison.config.compare.encodings = kinds;
  comparison.config.compare.seeds = seeds;
  comparison.config.compare.thresholds = thresholds;
  if (thresholds == "smoke-1") comparison.config.compare.primary.clear();  // as preset smoke has it
  comparison.config.train.length = train_length;
  for (Index k = 0; k < seeds; ++k) {
    for (const std::string& kind : kinds) {
      const auto seed = static_cast<std::uint64_t>(k);
      FinishedCell cell{kind, kind, seed, train_length, {}};
      cell.record.training = "done";
      cell.record.complete = true;
      cell.record.tokens_per_second = (kind == "rope"    ? 38000
                                       : kind == "alibi" ? 39500
                                                         : 40000) +
                                      100.0 * (k % 3);
      const auto add = [&](const EvaluationCell& at) {
        EvaluationResult result =
            detail::sample_evaluation(at, detail::sample_loss(kind, seed, at, train_length), train_length);
        if (at.protocol == Protocol::nonoverlapping) {
          const double far = static_cast<double>(at.length) / static_cast<double>(train_length);
          result.tail_nll = result.nll + 0.5 * detail::lost_far_out(kind, far);
        }
        if (kind == "learned" && at.length > train_length) {
          result = {};
          result.cell = at;
          result.status = "refused";
          result.reason = "learned positions end at row 64";
        }
        if (change) change(kind, seed, result);
        cell.record.results.push_back({trained_evaluation, result});
      };
      for (const double at : times) {
        const auto length = static_cast<Index>(at * static_cast<double>(train_length));
        add({Protocol::nonoverlapping, length, length, false});
        if (at > 8) continue;
        add({Protocol::sliding, length, train_length / 2, true});
        if (at == 1) add({Protocol::sliding, length, 1, true});
        add({Protocol::nonoverlapping, length, length, true});
      }
      comparison.cells.push_back(std::move(cell));
    }
  }
  return comparison;
}

/// The criterion of that name, which must have been judged.
inline CriterionResult judged_criterion(const Comparison& comparison, const std::string& id) {
  for (const CriterionResult& result : judge(comparison)) {
    if (result.id == id) return result;
  }
  return {};
}

}  // namespace tapeline::test
