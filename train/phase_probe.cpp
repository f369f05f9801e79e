#include "train/phase_probe.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace tapeline {

std::vector<EvaluationWindow> shifted_windows(const ScoredSet& set, Index length) {
  require<ConfigError>(length >= 1, "phase: a window of {} tokens; at least 1", length);
  std::vector<EvaluationWindow> windows;
  for (std::size_t i = 0; i < set.segments.size(); ++i) {
    const ScoredSegment& segment = set.segments[i];
    const Index end = segment.begin + segment.count;
    // The first target of a window, which the first one may have before the segment.
    for (Index first = segment.begin - length / 2; first < end; first += length) {
      const Index begin = std::max(segment.history_begin, first - 1);
      const Index stop = std::min(first + length, end);  // one past the last target
      const Index scored = stop - std::max(first, segment.begin);
      if (scored > 0) windows.push_back({begin, stop - 1 - begin, scored, static_cast<Index>(i)});
    }
  }
  return windows;
}

}  // namespace tapeline

namespace tapeline::inline TAPELINE_PRECISION {

ProbeResult phase_probe(const ProbeSubject& subject, Index length, const EvaluationOptions& options) {
  ProbeResult result = begin_probe(subject.model, "phase", length);
  if (result.status != "ok") return result;
  const EvaluationResult* const beside = whole_set_result(subject.evaluations, length);
  require<StateError>(beside != nullptr,
                      "phase at length {}: the evaluation that it is compared with has not been done",
                      length);
  const WindowSettings settings{
      .declared_context = length, .key_limit = options.key_limit, .probes = {}, .change = {}};
  const TargetLosses losses =
      target_losses(subject, shifted_windows(subject.plan.scored, length), settings, options);
  if (!std::isfinite(losses.nll()) || !std::isfinite(beside->nll)) {
    make_diverged(result, "the loss");
    return result;
  }
  const auto add = [&](const char* quantity, double value) {
    result.figures.push_back(
        {.quantity = quantity, .span = 0, .layer = -1, .head = -1, .tokens = losses.tokens, .value = value});
  };
  add("nll", losses.nll());
  add("delta_nll", losses.nll() - beside->nll);
  return result;
}

}  // namespace tapeline::inline TAPELINE_PRECISION
