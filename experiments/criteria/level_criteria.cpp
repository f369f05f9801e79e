#include <fmt/format.h>

#include <cmath>

#include "experiments/criteria/findings.h"

namespace tapeline {
namespace {

constexpr const char* none_compared = "none of learned, sinusoidal, rope and alibi was compared";

/// A figure of each of several encodings.
struct Named {
  std::string kind;
  Measured measured;
  double mean() const { return estimate_over_seeds(measured.values).mean; }
};

/// What is asked of the difference of any two figures, the larger one first.
std::vector<CriterionCondition> judged_pairs(const std::vector<Named>& figures, const Demand& demand,
                                             const std::string& asked) {
  std::vector<CriterionCondition> conditions;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    for (std::size_t j = i + 1; j < figures.size(); ++j) {
      const bool turned = figures[i].mean() < figures[j].mean();
      const Named &larger = figures[turned ? j : i], &smaller = figures[turned ? i : j];
      conditions.push_back(judged(fmt::format("{} - {}", larger.kind, smaller.kind),
                                  larger.measured - smaller.measured, Shown::nats, demand, asked));
    }
  }
  return conditions;
}

}  // namespace

Findings parity_at_trained_length(const Evidence& evidence, const Thresholds& asked) {
  const std::string text = fmt::format("any two at L differ by at most {:.2g} nats", asked.parity.high);
  std::vector<Named> losses;
  for (const Encoding& encoding : evidence.core()) losses.push_back({encoding.kind, encoding.loss_at(1)});
  Findings findings;
  if (losses.size() < 2) {
    findings.conditions.push_back(not_measured(text, losses.empty()
                                                         ? none_compared
                                                         : "only one of learned, sinusoidal, rope and alibi "
                                                           "was compared"));
    return findings;
  }
  findings.conditions = judged_pairs(losses, asked.parity, text);
  findings.shown = {extreme(findings.conditions, 0, true)};
  return findings;
}

Findings early_token_gap(const Evidence& evidence, const Thresholds& asked) {
  const std::string text = fmt::format("g {} nats", asked.gap.text(2));
  Findings findings;
  std::vector<Named> gaps;
  for (const Encoding& encoding : evidence.core()) {
    gaps.push_back({fmt::format("g of {}", encoding.kind), encoding.early_token_gap()});
    findings.conditions.push_back(
        judged(gaps.back().kind, gaps.back().measured, Shown::nats, asked.gap, text));
  }
  if (gaps.empty()) {
    findings.conditions.push_back(not_measured(text, none_compared));
    return findings;
  }
  const std::size_t lowest = extreme(findings.conditions, 0, false);
  const std::size_t highest = extreme(findings.conditions, 0, true);
  findings.shown = {lowest};
  if (highest != lowest) findings.shown.push_back(highest);
  if (std::isnan(asked.gap_spread) || gaps.size() < 2) return findings;
  const std::size_t pairs = findings.conditions.size();
  for (CriterionCondition& condition :
       judged_pairs(gaps, Demand::within(-asked.gap_spread, asked.gap_spread),
                    fmt::format("any two differ by at most {} nats", asked.gap_spread))) {
    findings.conditions.push_back(std::move(condition));
  }
  findings.shown.push_back(extreme(findings.conditions, pairs, true));
  return findings;
}

Findings learnt_something(const Evidence& evidence, const Thresholds& asked) {
  const Demand demand = Demand::below(asked.learnt);
  const std::string text = fmt::format("loss at L {} nats for each", demand.text(2));
  Findings findings;
  for (const Encoding& encoding : evidence.core()) {
    findings.conditions.push_back(judged(encoding.kind, encoding.loss_at(1), Shown::nats, demand, text));
  }
  if (findings.conditions.empty()) {
    findings.conditions.push_back(not_measured(text, none_compared));
    return findings;
  }
  findings.shown = {extreme(findings.conditions, 0, true)};
  if (evidence.comparison().config.data.source != "kjv")
    findings.not_judged = "the number is one of the King James text (data.source \"kjv\")";
  return findings;
}

}  // namespace tapeline
