#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/counted.h"
#include "experiments/criteria/findings.h"

namespace tapeline {
namespace {

/// "R_rope(8)/R_alibi(8)".
std::string ratio_of_ratios(std::string_view first, std::string_view second, double times) {
  return fmt::format("{}/{}", ratio_name(times, fmt::format("_{}", first)),
                     ratio_name(times, fmt::format("_{}", second)));
}

/// Whether every loss of the encoding is a number, which is no matter of chance.
CriterionCondition finite_losses(const Encoding& encoding) {
  const std::string asked = fmt::format("the loss of {} is finite at every length", encoding.kind);
  if (encoding.variant.empty()) return not_measured(asked, encoding.absent);
  CriterionCondition condition = not_measured(asked, {});
  Index finite = 0;
  std::vector<std::string> diverged;
  for (const FinishedCell* model : encoding.cells) {
    for (const RecordedResult& recorded : model->record.results) {
      const EvaluationResult& result = recorded.result;
      if (recorded.evaluation != trained_evaluation) continue;
      finite += result.status == "ok" ? 1 : 0;
      if (result.status == "diverged")
        diverged.push_back(fmt::format("{} (seed {})", result.cell.length, model->seed));
    }
  }
  condition.seeds = static_cast<Index>(encoding.cells.size());
  condition.found = diverged.empty() ? fmt::format("{} finite evaluations", finite)
                                     : fmt::format("not finite at {}", fmt::join(diverged, ", "));
  if (finite == 0 && diverged.empty()) {
    condition.reason = fmt::format("{} was not evaluated", encoding.variant);
  } else {
    condition.verdict = diverged.empty() ? Verdict::holds : Verdict::fails;
  }
  return condition;
}

/// The order of three losses in each seed. What holds in every one of `seeds` or more holds; what is broken
/// in one of several fails.
CriterionCondition order_by_seed(const Encoding& high, const Encoding& middle, const Encoding& low,
                                 double times, Index seeds) {
  const Measured upper = high.loss_at(times) - middle.loss_at(times);
  const Measured lower = middle.loss_at(times) - low.loss_at(times);
  const std::string order = fmt::format("{} > {} > {}", high.kind, middle.kind, low.kind);
  CriterionCondition condition =
      not_measured(fmt::format("{} at {}L in {}", order, times, counted(seeds, "seed")), upper.missing);
  if (condition.reason.empty()) condition.reason = lower.missing;
  if (!condition.reason.empty()) return condition;
  std::vector<std::string> broken;
  for (const auto& [seed, difference] : upper.values) {
    const auto other = lower.values.find(seed);
    if (other == lower.values.end()) continue;
    ++condition.seeds;
    if (difference <= 0 || other->second <= 0) broken.push_back(fmt::format("{}", seed));
  }
  std::vector<std::string> reasons = (upper - lower).left_out;
  if (condition.seeds == 0) {
    reasons.insert(reasons.begin(), "no seed has all three");
  } else {
    const auto mean = [&](const Encoding& encoding) {
      return estimate_over_seeds(encoding.loss_at(times).values).mean;
    };
    condition.found = fmt::format("{} in {} of {} (means {:.3f}, {:.3f}, {:.3f} nats)", order,
                                  condition.seeds - static_cast<Index>(broken.size()),
                                  counted(condition.seeds, "seed"), mean(high), mean(middle), mean(low));
    if (!broken.empty()) reasons.push_back(fmt::format("another order in seed {}", fmt::join(broken, ", ")));
    if (condition.seeds < seeds)
      reasons.push_back(fmt::format("{}, {} asked for", counted(condition.seeds, "seed"), seeds));
    condition.verdict = condition.seeds < 2       ? Verdict::inconclusive
                        : !broken.empty()         ? Verdict::fails
                        : condition.seeds < seeds ? Verdict::inconclusive
                                                  : Verdict::holds;
  }
  condition.reason = fmt::format("{}", fmt::join(reasons, "; "));
  return condition;
}

}  // namespace

Findings sinusoidal_fails(const Evidence& evidence, const Thresholds& asked) {
  const Encoding sinusoidal = evidence.find("sinusoidal");
  Findings findings;
  if (const double times = asked.sinusoidal_at_least_alibi; times > 0) {
    findings.conditions.push_back(
        judged(ratio_of_ratios("sinusoidal", "alibi", times),
               sinusoidal.log_ratio(times) - evidence.find("alibi").log_ratio(times), Shown::ratio,
               Demand::at_least(1)));
  }
  for (const auto& [times, demand] : asked.sinusoidal) {
    findings.conditions.push_back(
        judged(ratio_name(times), sinusoidal.log_ratio(times), Shown::ratio, demand));
  }
  for (const auto& [times, demand] : asked.sinusoidal_tail) {
    findings.conditions.push_back(
        judged(ratio_name(times, "_tail"), sinusoidal.log_tail_ratio(times), Shown::ratio, demand));
  }
  if (asked.sinusoidal_rises.empty()) return findings;
  const std::size_t steps = findings.conditions.size();
  for (std::size_t i = 0; i < steps; ++i) findings.shown.push_back(i);
  for (std::size_t i = 1; i < asked.sinusoidal_rises.size(); ++i) {
    const double from = asked.sinusoidal_rises[i - 1], to = asked.sinusoidal_rises[i];
    findings.conditions.push_back(
        judged(fmt::format("{}/{}", ratio_name(to), ratio_name(from)),
               sinusoidal.loss_at(to) - sinusoidal.loss_at(from), Shown::ratio, Demand::above(1),
               fmt::format("R rises from each of {} to the next", fmt::join(asked.sinusoidal_rises, ", "))));
  }
  findings.shown.push_back(extreme(findings.conditions, steps, false));
  return findings;
}

Findings rope_between(const Evidence& evidence, const Thresholds& asked) {
  const Encoding rope = evidence.find("rope");
  Findings findings;
  if (asked.rope_finite) findings.conditions.push_back(finite_losses(rope));
  for (const auto& [times, demand] : asked.rope_over_alibi) {
    findings.conditions.push_back(judged(ratio_of_ratios("rope", "alibi", times),
                                         rope.log_ratio(times) - evidence.find("alibi").log_ratio(times),
                                         Shown::ratio, demand));
  }
  for (const double times : asked.rope_below_sinusoidal) {
    findings.conditions.push_back(judged(ratio_of_ratios("rope", "sinusoidal", times),
                                         rope.log_ratio(times) - evidence.find("sinusoidal").log_ratio(times),
                                         Shown::ratio, Demand::below(1)));
  }
  return findings;
}

Findings order_far_out(const Evidence& evidence, const Thresholds& asked) {
  Findings findings;
  if (asked.order_at == 0) return findings;
  const double times = asked.order_at;
  const Encoding sinusoidal = evidence.find("sinusoidal"), rope = evidence.find("rope"),
                 alibi = evidence.find("alibi");
  findings.conditions.push_back(order_by_seed(sinusoidal, rope, alibi, times, asked.order_seeds));
  if (!asked.order_beyond_chance) return findings;
  for (const auto& [above, below] : {std::pair(&sinusoidal, &rope), std::pair(&rope, &alibi)}) {
    findings.conditions.push_back(judged(fmt::format("{} - {}", above->kind, below->kind),
                                         above->loss_at(times) - below->loss_at(times), Shown::nats,
                                         Demand::above(0)));
  }
  return findings;
}

}  // namespace tapeline
