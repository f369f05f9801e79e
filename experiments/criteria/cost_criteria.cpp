#include <fmt/format.h>

#include <cmath>

#include "experiments/compare/speeds.h"
#include "experiments/criteria/findings.h"

namespace tapeline {
namespace {

/// log of the speed of one over that of the other, seed by seed, where both were timed alike.
Measured log_speed_ratio(const Evidence& evidence, const Encoding& one, const Encoding& other) {
  Measured ratio = one.log_training_speed() - other.log_training_speed();
  if (!ratio.missing.empty()) return ratio;
  const SpeedPairs pairs = speed_pairs(evidence.comparison(), one.variant, other.variant);
  std::erase_if(ratio.values, [&](const auto& entry) { return !pairs.one.contains(entry.first); });
  if (pairs.apart && ratio.values.empty()) return nothing_measured(speeds_apart);
  if (pairs.apart) ratio.left_out.push_back(fmt::format("seeds whose {} are left out", speeds_apart));
  return ratio;
}

/// " alibi trained at 64: 1.31 times the tokens/s of 512, by the count of operations 1.22 times." for every
/// kind that was trained at several lengths; empty without any.
std::string speed_by_length(const Evidence& evidence) {
  std::string text;
  for (const char* kind : {"sinusoidal", "alibi"}) {
    const std::vector<Encoding> models = evidence.by_trained_length(kind);
    if (models.size() < 2) continue;
    const Encoding &shortest = models.front(), &longest = models.back();
    const Estimate speed = estimate_over_seeds(log_speed_ratio(evidence, shortest, longest).values);
    if (speed.count == 0) continue;
    text += fmt::format(
        "; {} trained at {}: {:.2f} times the tokens/s of {}, by the count of operations {:.2f} times", kind,
        shortest.train_length, std::exp(speed.mean), longest.train_length,
        longest.training_work / shortest.training_work);
  }
  return text;
}

}  // namespace

Findings train_short_test_long(const Evidence& evidence, const Thresholds& asked) {
  Findings findings;
  for (const ShortLong& pair : asked.short_long) {
    const Encoding alibi = evidence.find("alibi", pair.short_length);
    const Encoding sinusoidal = evidence.find("sinusoidal", pair.long_length);
    findings.conditions.push_back(
        judged(fmt::format("alibi of {}/sinusoidal of {}", pair.short_length, pair.long_length),
               alibi.loss(pair.long_length) - sinusoidal.loss(pair.long_length), Shown::ratio,
               Demand::at_most(pair.ratio)));
  }
  return findings;
}

Findings training_cost(const Evidence& evidence, const Thresholds& asked) {
  Findings findings;
  const Encoding sinusoidal = evidence.find("sinusoidal");
  for (const auto& [kind, least] :
       {std::pair("alibi", asked.alibi_speed), std::pair("rope", asked.rope_speed)}) {
    if (std::isnan(least)) continue;
    findings.conditions.push_back(judged(fmt::format("tokens/s of {}/sinusoidal", kind),
                                         log_speed_ratio(evidence, evidence.find(kind), sinusoidal),
                                         Shown::ratio, Demand::at_least(least)));
  }
  if (!findings.conditions.empty()) findings.remark = speed_by_length(evidence);
  return findings;
}

}  // namespace tapeline
