#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/compare/comparison.h"
#include "experiments/statistics/verdict.h"

namespace tapeline {

/// What became of one named criterion (C1 ... C12) in a comparison.
struct CriterionResult {
  std::string id;                  ///< "C1"
  std::string version;             ///< of its threshold: the name of the frozen set, "toy-1"
  std::string statement;           ///< "ALiBi's loss in non-overlapping windows falls with length"
  bool primary = false;            ///< declared before the run; --check looks at these
  std::optional<Verdict> verdict;  ///< nothing: not measured here, reason says why
  std::string figure;              ///< what was found, with its interval: "R(8) = 0.981 ±0.004"
  std::string threshold;           ///< what was asked: "R(8) < 1.00"
  std::string reason;              ///< why not measured, why inconclusive, which seeds diverged; else empty
};

/// The criteria that the configuration names (compare.claims; by default all), judged on what was measured.
std::vector<CriterionResult> judge(const Comparison& comparison);

/// The whole of claims.json: one object a criterion.
std::string criteria_json(const std::vector<CriterionResult>& results);

}  // namespace tapeline
