#include "experiments/compare/budget.h"

#include <algorithm>
#include <cmath>

namespace tapeline {
namespace {

// Saving, validating, the report.
constexpr double usable_share = 0.95;

/// The steps that fit, in tens where they are not all that were asked for; below 0: not even none.
Index fitting_steps(double seconds, const ComparisonCost& cost, Index seeds, Index most) {
  const double left = seconds - cost.seconds(seeds, 0);
  const double a_step = cost.once_a_step + static_cast<double>(seeds) * cost.seed_a_step;
  if (left < 0) return -1;
  if (left >= a_step * static_cast<double>(most)) return most;
  const auto steps = static_cast<Index>(std::floor(left / a_step));
  return steps >= 100 ? steps / 10 * 10 : steps;
}

}  // namespace

Index BudgetLimits::least_steps() const {
  return std::min(steps, std::max<Index>(1, std::min(fewest_steps, steps) / 2));
}

ComparisonCost comparison_cost(const Config& config, const Layout& layout, const VariantSpeeds& speeds) {
  ComparisonCost cost;
  for (std::size_t i = 0; i < layout.cells.size(); ++i) {
    const Cell& cell = layout.cells[i];
    const bool first = cell.seed == config.train.seed;
    if (!first) break;  // the other seeds: as the first, but for the sweep
    const ComparisonTime time = cell_time(layout, i, speeds);
    const bool point = cell.part == CellPart::sweep_point;
    const double step = speeds.at(cell.variant).step_seconds;
    const auto own = std::ranges::find(config.compare.variants, cell.variant, &Variant::name);
    const bool keeps_steps = own != config.compare.variants.end() && own->changes.contains("train.steps");
    // A seed that is trained in the sweep has its training there: taken off once from what a seed costs.
    const double trained = step * static_cast<double>(cell.config.config.train.steps);
    double& fixed = point ? cost.once : cost.seed;
    fixed += time.evaluation + (keeps_steps ? trained : 0);
    if (!keeps_steps) (point ? cost.once_a_step : cost.seed_a_step) += step;
    if (cell.part != CellPart::swept) continue;
    if (keeps_steps) cost.once -= trained;
    if (!keeps_steps) cost.once_a_step -= step;
  }
  return cost;
}

BudgetChoice fit_budget(double seconds, const ComparisonCost& cost, const BudgetLimits& limits) {
  const double usable = usable_share * seconds;
  const Index fewest = std::min(limits.fewest_steps, limits.steps);
  for (Index seeds = limits.seeds; seeds >= 1; --seeds) {
    const Index steps = fitting_steps(usable, cost, seeds, limits.steps);
    if (steps >= (seeds > 1 ? fewest : limits.least_steps()))
      return {seeds, steps, cost.seconds(seeds, steps)};
  }
  return {0, 0, cost.seconds(1, limits.least_steps()) / usable_share};
}

}  // namespace tapeline
