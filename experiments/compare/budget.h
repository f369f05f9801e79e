#pragma once

#include "experiments/compare/time_estimate.h"

namespace tapeline {

/// What a comparison costs, in seconds: once (a sweep) and for every seed, each by a share that steps do not
/// change (evaluation) and one that grows with them.
struct ComparisonCost {
  double once = 0, once_a_step = 0;
  double seed = 0, seed_a_step = 0;
  double seconds(Index seeds, Index steps) const {
    return once + once_a_step * static_cast<double>(steps) +
           static_cast<double>(seeds) * (seed + seed_a_step * static_cast<double>(steps));
  }
};

/// The cost of a comparison laid out in full. A variant with train.steps of its own keeps them.
ComparisonCost comparison_cost(const Config& config, const Layout& layout, const VariantSpeeds& speeds);

/// How many seeds and steps there may be.
struct BudgetLimits {
  Index seeds = 1, steps = 1;  ///< those asked for: never more
  Index fewest_steps = 1;      ///< below them encodings hardly differ
  Index least_steps() const;   ///< half of those: with fewer nothing is compared
};

struct BudgetChoice {
  Index seeds = 0, steps = 0;  ///< 0 seeds: the time is too short for one seed of the least steps
  double seconds = 0;          ///< what they take; of the least, when it is too short
};

/// The most seeds that the time allows with at least `fewest_steps` each, and as many steps as it then
/// allows; with one seed alone steps fall below that, down to the least. A twentieth of the time is kept for
/// what no estimate counts.
BudgetChoice fit_budget(double seconds, const ComparisonCost& cost, const BudgetLimits& limits);

}  // namespace tapeline
