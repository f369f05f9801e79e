#include "experiments/statistics/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tapeline {

std::string verdict_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::holds:
      return "holds";
    case Verdict::fails:
      return "fails";
    case Verdict::inconclusive:
      break;
  }
  return "inconclusive";
}

Demand Demand::at_most(double bound) { return {.low = Demand().low, .high = bound, .open = false}; }
Demand Demand::below(double bound) { return {.low = Demand().low, .high = bound, .open = true}; }
Demand Demand::at_least(double bound) { return {.low = bound, .high = Demand().high, .open = false}; }
Demand Demand::above(double bound) { return {.low = bound, .high = Demand().high, .open = true}; }
Demand Demand::within(double low, double high) { return {.low = low, .high = high, .open = false}; }

bool Demand::met_by(double value) const {
  return open ? value > low && value < high : value >= low && value <= high;
}

std::string Demand::text(int digits) const {
  if (std::isinf(low)) return fmt::format("{} {:.{}f}", open ? "<" : "≤", high, digits);
  if (std::isinf(high)) return fmt::format("{} {:.{}f}", open ? ">" : "≥", low, digits);
  return fmt::format("in {:.{}f} to {:.{}f}", low, digits, high, digits);
}

Verdict judge_interval(double lower, double upper, const Demand& demand) {
  if (std::isnan(lower) || std::isnan(upper)) return Verdict::inconclusive;
  if (demand.met_by(lower) && demand.met_by(upper)) return Verdict::holds;
  const bool all_above = demand.open ? lower >= demand.high : lower > demand.high;
  const bool all_below = demand.open ? upper <= demand.low : upper < demand.low;
  return all_above || all_below ? Verdict::fails : Verdict::inconclusive;
}

Verdict joint_verdict(const std::vector<Verdict>& verdicts) {
  const auto some = [&](Verdict verdict) { return std::ranges::find(verdicts, verdict) != verdicts.end(); };
  if (some(Verdict::fails)) return Verdict::fails;
  return some(Verdict::inconclusive) ? Verdict::inconclusive : Verdict::holds;
}

}  // namespace tapeline
