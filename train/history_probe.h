#pragma once

#include <span>
#include <vector>

#include "train/target_losses.h"

namespace tapeline {

/// How many tokens of history are tried in windows of `length`: 8, 16, 32, ... below it, and all of it.
std::vector<Index> history_spans(Index length);

/// One point of a truncated-history curve.
struct HistoryPoint {
  Index history = 0;  ///< tokens before the target
  double nats_per_byte = 0;
};

/// How much more, in nats a byte, less history may cost to count as enough.
inline constexpr double effective_context_margin = 0.01;

/// The effective context: the least history of the curve that costs at most the margin more than the last,
/// longest one. `curve` is in ascending order of history and not empty. A model that only gets worse with
/// more history has the least of all.
Index effective_context(std::span<const HistoryPoint> curve);

}  // namespace tapeline

namespace tapeline::inline TAPELINE_PRECISION {

/// The truncated-history curve (after Khandelwal, He, Qi, Jurafsky 2018, 1805.04623): the mean loss of
/// plan.probe_targets, each predicted from its last n tokens alone, for every n of history_spans(length). The
/// targets are the same for every n. The model is the one of windows of `length` throughout: encodings that
/// depend on the length are told that one.
/// Figures: nll by span n (nats a token); effective_context (tokens).
ProbeResult history_probe(const ProbeSubject& subject, Index length, const EvaluationOptions& options);

}  // namespace tapeline::inline TAPELINE_PRECISION
