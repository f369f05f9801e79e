#pragma once

#include <string>
#include <vector>

#include "experiments/compare/comparison.h"
#include "experiments/compare/summary.h"

namespace tapeline {

/// The answer of a comparison in words.
struct Answer {
  /// Which variant does best (ranking_at()) at the longest length that all were evaluated at, and how sure
  /// that is; how many models diverged.
  std::string headline;
  /// Which does best at the trained length, what became of each of the others (where there are many, of the
  /// first and last of them), which could not go that far at all, and whether longer windows pay.
  std::string details;
};
Answer answer(const Comparison& comparison, const std::vector<Series>& all);

/// Both, one behind the other.
std::string answer_text(const Comparison& comparison, const std::vector<Series>& all);

}  // namespace tapeline
