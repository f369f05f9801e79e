#include "experiments/criteria/findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace tapeline {
namespace {

double as_shown(double value, Shown shown) { return shown == Shown::ratio ? std::exp(value) : value; }

/// "0.981 (0.977 to 0.985; tokens 0.970 to 0.991)".
std::string found_text(const CriterionCondition& condition, const Estimate& over_seeds, Shown shown) {
  std::vector<std::string> behind;
  const auto range = [](double from, double to) { return fmt::format("{:.3f} to {:.3f}", from, to); };
  if (!std::isnan(condition.lower)) behind.push_back(range(condition.lower, condition.upper));
  if (over_seeds.half_width > widely_scattered) {
    behind.push_back(
        fmt::format("median {:.3f}, seeds from {}", as_shown(over_seeds.median, shown),
                    range(as_shown(over_seeds.lowest, shown), as_shown(over_seeds.highest, shown))));
  }
  if (!std::isnan(condition.token_lower))
    behind.push_back(fmt::format("tokens {}", range(condition.token_lower, condition.token_upper)));
  return fmt::format("{:.3f}{}{}", condition.estimate, shown == Shown::nats ? " nats" : "",
                     behind.empty() ? std::string() : fmt::format(" ({})", fmt::join(behind, "; ")));
}

/// Why there is no interval; empty when there is one.
std::string no_interval(const Measured& measured) {
  if (measured.values.size() > 1) return {};
  return measured.left_out.empty() ? "one seed, no interval" : "one seed is left, no interval";
}

/// A condition with its numbers; without a verdict.
CriterionCondition with_numbers(const std::string& name, const Measured& measured, Shown shown) {
  CriterionCondition condition;
  std::vector<std::string> reasons = measured.left_out;
  const Estimate over_seeds = estimate_over_seeds(measured.values);
  const bool some = measured.missing.empty() && over_seeds.count > 0;
  if (!some) {
    reasons.insert(reasons.begin(), measured.missing.empty() ? "no seed has both" : measured.missing);
  } else {
    condition.seeds = over_seeds.count;
    condition.estimate = as_shown(over_seeds.mean, shown);
    condition.lower = as_shown(over_seeds.lower(), shown);
    condition.upper = as_shown(over_seeds.upper(), shown);
    const BootstrapInterval over_text = measured.over_text();
    condition.token_lower = as_shown(over_text.lower, shown);
    condition.token_upper = as_shown(over_text.upper, shown);
    condition.blocks = over_text.blocks;
    condition.found = fmt::format("{} = {}", name, found_text(condition, over_seeds, shown));
    if (const std::string why = no_interval(measured); !why.empty()) reasons.insert(reasons.begin(), why);
  }
  condition.reason = fmt::format("{}", fmt::join(reasons, "; "));
  return condition;
}

/// As many digits as the threshold has, two at least.
int digits_of(const Demand& demand) {
  for (const double bound : {demand.low, demand.high}) {
    if (std::isfinite(bound) && std::abs(std::round(bound * 100) / 100 - bound) > 1e-9) return 3;
  }
  return 2;
}

}  // namespace

std::string ratio_name(double times, std::string_view of) { return fmt::format("R{}({})", of, times); }

CriterionCondition judged(const std::string& name, const Measured& measured, Shown shown,
                          const Demand& demand, const std::string& asked) {
  CriterionCondition condition = with_numbers(name, measured, shown);
  condition.asked = asked.empty() ? fmt::format("{} {}{}", name, demand.text(digits_of(demand)),
                                                shown == Shown::nats ? " nats" : "")
                                  : asked;
  if (condition.seeds > 0) condition.verdict = judge_interval(condition.lower, condition.upper, demand);
  return condition;
}

CriterionCondition told(const std::string& name, const Measured& measured, Shown shown) {
  return with_numbers(name, measured, shown);
}

CriterionCondition not_measured(const std::string& asked, const std::string& why) {
  CriterionCondition condition;
  condition.asked = asked;
  condition.reason = why;
  return condition;
}

std::size_t extreme(const std::vector<CriterionCondition>& conditions, std::size_t begin, bool largest) {
  std::size_t place = begin;
  for (std::size_t i = begin; i < conditions.size(); ++i) {
    const double value = conditions[i].estimate, best = conditions[place].estimate;
    if (std::isnan(best)) return place;
    if (std::isnan(value) || (largest ? value > best : value < best)) place = i;
  }
  return place;
}

}  // namespace tapeline
