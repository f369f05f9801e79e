#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/experiments/criteria_samples.h"

/// The made-up comparison, spoilt in one place.
namespace tapeline::test {

/// Which evaluations a test changes, and by how much for seed 0, 1 and 2.
struct Spoilt {
  std::string kind;
  Protocol protocol;
  Index length;
  std::vector<double> nats;
  bool subset = false;
  Index stride = 0;  ///< 0: any
};

inline bool is_meant(const Spoilt& spoilt, const std::string& kind, const EvaluationResult& result) {
  const EvaluationCell& cell = result.cell;
  return (spoilt.kind.empty() || kind == spoilt.kind) && cell.protocol == spoilt.protocol &&
         cell.length == spoilt.length && cell.subset == spoilt.subset &&
         (spoilt.stride == 0 || cell.stride == spoilt.stride);
}

inline Comparison spoilt_by(const Spoilt& spoilt) {
  CriteriaSample sample;
  sample.change = [&](const std::string& kind, std::uint64_t seed, EvaluationResult& result) {
    if (is_meant(spoilt, kind, result) && result.status == "ok") add_loss(result, spoilt.nats[seed]);
  };
  return sample.make();
}

inline Comparison without(const std::string& kind) {
  CriteriaSample sample;
  std::erase(sample.kinds, kind);
  return sample.make();
}

/// Seed 1 of that kind diverges: in training, or in the evaluations at one length.
inline Comparison diverged_seed(const std::string& kind, Index at_length = 0) {
  CriteriaSample sample;
  sample.change = [&](const std::string& of, std::uint64_t seed, EvaluationResult& result) {
    if (of != kind || seed != 1 || (at_length != 0 && result.cell.length != at_length)) return;
    const EvaluationCell cell = result.cell;
    result = {};
    result.cell = cell;
    result.status = "diverged";
  };
  Comparison comparison = sample.make();
  for (FinishedCell& cell : comparison.cells) {
    if (at_length == 0 && cell.kind == kind && cell.seed == 1) cell.record.training = "diverged";
  }
  return comparison;
}

inline std::optional<Verdict> verdict_of(const Comparison& comparison, const char* id) {
  return judged_criterion(comparison, id).verdict;
}

inline constexpr Protocol plain_windows = Protocol::nonoverlapping, sliding_windows = Protocol::sliding;
inline const std::vector<double> all_worse = {1, 1, 1}, far_apart = {-1, 0.2, 1};

}  // namespace tapeline::test
