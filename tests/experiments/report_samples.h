#pragma once

#include <string>
#include <utility>
#include <vector>

#include "experiments/report/sections/section.h"
#include "tests/experiments/comparison_samples.h"

/// What the parts of the page are tried on.
namespace tapeline::test {

/// Everything that a comparison can have.
inline Comparison full_comparison(Index seeds) {
  Comparison comparison = sample_comparison(seeds);
  add_early_tokens(comparison);
  add_attention(comparison);
  add_context_probes(comparison);
  return comparison;
}

inline ReportData data_of(const Comparison& comparison, std::vector<CriterionResult> criteria = {}) {
  return {comparison, result_rows(comparison.cells), series_of(comparison), std::move(criteria)};
}

inline SweepPoint sweep_point(const std::string& variant, double multiple, double nll) {
  SweepPoint point;
  point.variant = point.kind = variant;
  point.multiple = multiple;
  point.lr = 0.002 * multiple;
  point.trained_tokens = 1000000;
  point.training_flop = 2e12;
  point.status = "ok";
  point.nll = nll;
  point.tokens_per_second = 50000;
  return point;
}

}  // namespace tapeline::test
