#include "train/shuffle_probe.h"

#include <cmath>

#include "core/random.h"

namespace tapeline {

std::vector<Index> shuffle_spans(Index length) {
  std::vector<Index> spans{0};
  for (Index span = 8; 2 * span <= length; span *= 2) spans.push_back(span);
  return spans;
}

void shuffle_history(std::span<Token> inputs, Index kept, Index target) {
  const Index count = static_cast<Index>(inputs.size()) - kept;
  if (count <= 1) return;
  const RandomKey key = random_key(0, "shuffled history")
                            .child(static_cast<std::uint64_t>(target))
                            .child(static_cast<std::uint64_t>(kept));
  const std::vector<Token> in_order(inputs.begin(), inputs.begin() + count);
  for (Index place = 0; place < count; ++place) {
    inputs[static_cast<std::size_t>(place)] =
        in_order[static_cast<std::size_t>(random_permutation(key, place, count))];
  }
}

}  // namespace tapeline

namespace tapeline::inline TAPELINE_PRECISION {

ProbeResult shuffle_probe(const ProbeSubject& subject, Index length, const EvaluationOptions& options) {
  ProbeResult result = begin_probe(subject.model, "shuffle", length);
  if (result.status != "ok") return result;
  const std::vector<EvaluationWindow> windows = windows_before(subject.plan.probe_targets, length);
  const std::vector<Index> spans = shuffle_spans(length);
  const double parts = static_cast<double>(spans.size()) + 1;
  double done = 0;
  const auto losses_with = [&](Index kept) {
    const WindowSettings settings{.declared_context = length,
                                  .key_limit = options.key_limit,
                                  .probes = {},
                                  .change = [kept](const EvaluationWindow& window, std::span<Token> inputs) {
                                    shuffle_history(inputs, kept, window.begin + window.inputs);
                                  }};
    const double begin = done / parts;
    done += 1;
    return target_losses(subject, windows, settings, part_of(options, begin, done / parts));
  };
  const TargetLosses in_order = losses_with(length);
  const auto add = [&](const char* quantity, Index span, double value) {
    result.figures.push_back({.quantity = quantity,
                              .span = span,
                              .layer = -1,
                              .head = -1,
                              .tokens = in_order.tokens,
                              .value = value});
  };
  bool finite = std::isfinite(in_order.nll());
  for (const Index kept : spans) {
    if (!finite) break;
    const double nll = losses_with(kept).nll();
    finite = std::isfinite(nll);
    add("nll", kept, nll);
    add("delta_nll", kept, nll - in_order.nll());
  }
  add("nll", length, in_order.nll());
  if (!finite) make_diverged(result, "the loss");
  return result;
}

}  // namespace tapeline::inline TAPELINE_PRECISION
