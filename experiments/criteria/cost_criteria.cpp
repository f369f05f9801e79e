#include <fmt/format.h>

#include <cmath>

#include "experiments/criteria/findings.h"

namespace tapeline {
namespace {

/// " alibi trained at 64: 1.31 times the tokens/s of 512, by the count of operations 1.22 times." for every
/// kind that was trained at several lengths; empty without any.
std::string speed_by_length(const Evidence& evidence) {
  std::string text;
  for (const char* kind : {"sinusoidal", "alibi"}) {
    const std::vector<Encoding> models = evidence.by_trained_length(kind);
    if (models.size() < 2) continue;
    const Encoding &shortest = models.front(), &longest = models.back();
    const Estimate speed =
        paired_difference(shortest.log_training_speed().values, longest.log_training_speed().values);
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
    findings.conditions.push_back(
        judged(fmt::format("tokens/s of {}/sinusoidal", kind),
               evidence.find(kind).log_training_speed() - sinusoidal.log_training_speed(), Shown::ratio,
               Demand::at_least(least)));
  }
  if (!findings.conditions.empty()) findings.remark = speed_by_length(evidence);
  return findings;
}

}  // namespace tapeline
