#include <fmt/format.h>

#include <cmath>

#include "experiments/criteria/findings.h"

namespace tapeline {

Findings alibi_improves(const Evidence& evidence, const Thresholds& asked) {
  const Encoding alibi = evidence.find("alibi");
  Findings findings;
  for (const auto& [times, demand] : asked.alibi) {
    findings.conditions.push_back(judged(ratio_name(times), alibi.log_ratio(times), Shown::ratio, demand));
  }
  return findings;
}

Findings alibi_sliding_is_flat(const Evidence& evidence, const Thresholds& asked) {
  const Encoding alibi = evidence.find("alibi");
  Findings findings;
  for (const auto& [times, demand] : asked.alibi_sliding) {
    findings.conditions.push_back(
        judged(ratio_name(times, "_sliding"), alibi.log_sliding_ratio(times), Shown::ratio, demand));
  }
  return findings;
}

Findings curse_only_gain(const Evidence& evidence, const Thresholds& asked) {
  const Encoding alibi = evidence.find("alibi");
  const bool printed_only = std::isnan(asked.residual);
  Findings findings;
  for (const double times : asked.residual_at) {
    const std::string name = fmt::format("residual at {}L", times);
    const Measured residual = alibi.residual_at(times);
    findings.conditions.push_back(
        printed_only ? told(name, residual, Shown::nats)
                     : judged(name, residual, Shown::nats, Demand::within(-asked.residual, asked.residual),
                              fmt::format("{} within ±{} nats", name, asked.residual)));
  }
  if (printed_only) findings.not_judged = fmt::format("{} only prints it", asked.version);
  return findings;
}

}  // namespace tapeline
