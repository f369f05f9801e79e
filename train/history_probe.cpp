#include "train/history_probe.h"

#include <cmath>

#include "core/error.h"

namespace tapeline {

std::vector<Index> history_spans(Index length) {
  std::vector<Index> spans;
  for (Index span = 8; span < length; span *= 2) spans.push_back(span);
  spans.push_back(length);
  return spans;
}

Index effective_context(std::span<const HistoryPoint> curve) {
  require<StateError>(!curve.empty(), "effective context: a curve without points");
  const double whole = curve.back().nats_per_byte;
  for (const HistoryPoint& point : curve) {
    if (point.nats_per_byte - whole <= effective_context_margin) return point.history;
  }
  return curve.back().history;
}

}  // namespace tapeline

namespace tapeline::inline TAPELINE_PRECISION {

ProbeResult history_probe(const ProbeSubject& subject, Index length, const EvaluationOptions& options) {
  ProbeResult result = begin_probe(subject.model, "history", length);
  if (result.status != "ok") return result;
  const WindowSettings settings{
      .declared_context = length, .key_limit = options.key_limit, .probes = {}, .change = {}};
  const std::vector<Index> spans = history_spans(length);
  double all = 0, done = 0;  // tokens of history
  for (const Index span : spans) all += static_cast<double>(span);
  std::vector<HistoryPoint> curve;
  Index tokens = 0;
  for (const Index span : spans) {
    const double after = done + static_cast<double>(span);
    const TargetLosses losses = target_losses(subject, windows_before(subject.plan.probe_targets, span),
                                              settings, part_of(options, done / all, after / all));
    done = after;
    if (!std::isfinite(losses.nll())) {
      make_diverged(result, "the loss");
      return result;
    }
    tokens = losses.tokens;
    curve.push_back({span, losses.nats_per_byte()});
    result.figures.push_back(
        {.quantity = "nll", .span = span, .layer = -1, .head = -1, .tokens = tokens, .value = losses.nll()});
  }
  result.figures.push_back({.quantity = "effective_context",
                            .span = 0,
                            .layer = -1,
                            .head = -1,
                            .tokens = tokens,
                            .value = static_cast<double>(effective_context(curve))});
  return result;
}

}  // namespace tapeline::inline TAPELINE_PRECISION
