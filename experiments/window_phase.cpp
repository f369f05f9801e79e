#include "experiments/window_phase.h"

#include <cmath>

namespace tapeline {

bool WindowPhase::can_tell() const {
  return std::isfinite(over_text.lower) && std::isfinite(over_text.upper);
}

bool WindowPhase::inside() const {
  return can_tell() && shifted >= over_text.lower && shifted <= over_text.upper;
}

WindowPhase window_phase(const ProbeResult& probe, const EvaluationResult* unshifted) {
  WindowPhase phase;
  phase.shifted = probe.find("nll")->value;
  phase.difference = probe.find("delta_nll")->value;
  if (unshifted != nullptr && unshifted->status == "ok" && !unshifted->segments.empty())
    phase.over_text = bootstrap({{1, unshifted->segments}}, random_key(0, "bootstrap over tokens"));
  return phase;
}

}  // namespace tapeline
