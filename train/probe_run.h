#pragma once

#include "train/probe_plan.h"
#include "train/target_losses.h"

namespace tapeline {

/// A probe that follows from the evaluations of one model, out of these. Throws StateError where one that it
/// needs has not been done.
ProbeResult probe_of_evaluations(const ProbeWork& work, std::span<const EvaluationResult> results,
                                 Index trained_length);

}  // namespace tapeline

namespace tapeline::inline TAPELINE_PRECISION {

/// Runs a probe on a model. A length that the encoding refuses is a result with status "refused", a loss that
/// is no number one with status "diverged". Polls signals (throws Stopped). Throws StateError for a probe
/// that follows from evaluations, and for one that lacks an evaluation which it is compared with.
ProbeResult run_probe(const ProbeWork& work, const ProbeSubject& subject,
                      const EvaluationOptions& options = {});

}  // namespace tapeline::inline TAPELINE_PRECISION
