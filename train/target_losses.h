#pragma once

#include <span>

#include "data/tokenizer.h"
#include "train/probe.h"
#include "train/window_losses.h"

namespace tapeline {

/// The options of one part of a measurement, from `begin` to `end` of the whole (shares): its progress is
/// told as that of the whole.
EvaluationOptions part_of(const EvaluationOptions& options, double begin, double end);

/// The windows of `length` whose last target alone is scored, one for each of `targets` (each a segment of
/// its own); shorter ones where the text has less before a target.
std::vector<EvaluationWindow> windows_before(const ScoredSet& targets, Index length);

}  // namespace tapeline

namespace tapeline::inline TAPELINE_PRECISION {

/// What a probe is measured on.
struct ProbeSubject {
  const Transformer& model;
  const TokenStore& text;
  const Tokenizer& tokenizer;
  const EvaluationPlan& plan;
  /// Of this model on this plan, as far as they have been done: what phase is compared with.
  std::span<const EvaluationResult> evaluations = {};
};

/// Summed losses of some targets.
struct TargetLosses {
  double total = 0;  ///< nats
  Index tokens = 0;
  Index bytes = 0;
  double nll() const { return total / static_cast<double>(tokens); }  ///< nats a token
  double nats_per_byte() const { return total / static_cast<double>(bytes); }
};

/// The losses of the scored targets of these windows.
TargetLosses target_losses(const ProbeSubject& subject, std::span<const EvaluationWindow> windows,
                           const WindowSettings& settings, const EvaluationOptions& options);

/// A result to be filled; refused, with the reason, where the model has no windows of that length.
ProbeResult begin_probe(const Transformer& model, const char* probe, Index length);

/// What a probe is that has met a loss or an attention which is no number: diverged, without figures.
void make_diverged(ProbeResult& result, const char* what);

}  // namespace tapeline::inline TAPELINE_PRECISION
