#include "train/probe_run.h"

#include "core/error.h"
#include "train/attention_probe.h"
#include "train/hard_window_probe.h"
#include "train/history_probe.h"
#include "train/in_context_probe.h"
#include "train/phase_probe.h"
#include "train/residual.h"
#include "train/shuffle_probe.h"

namespace tapeline {

ProbeResult probe_of_evaluations(const ProbeWork& work, std::span<const EvaluationResult> results,
                                 Index trained_length) {
  if (work.probe == "residual") return residual_probe(results, trained_length, work.length);
  require<StateError>(work.probe == "in_context", "probe \"{}\" does not follow from evaluations",
                      work.probe);
  const EvaluationResult* const result = whole_set_result(results, work.length);
  require<StateError>(result != nullptr,
                      "in_context at length {}: the evaluation that it is made of has not been done",
                      work.length);
  return in_context_probe(*result);
}

}  // namespace tapeline

namespace tapeline::inline TAPELINE_PRECISION {

ProbeResult run_probe(const ProbeWork& work, const ProbeSubject& subject, const EvaluationOptions& options) {
  if (work.probe == "hard_window") return hard_window_probe(subject, work.length, options);
  if (work.probe == "phase") return phase_probe(subject, work.length, options);
  if (work.probe == "history") return history_probe(subject, work.length, options);
  if (work.probe == "shuffle") return shuffle_probe(subject, work.length, options);
  require<StateError>(work.probe == "attention", "probe \"{}\" does not run a model", work.probe);
  return attention_probe(subject, work.length, options);
}

}  // namespace tapeline::inline TAPELINE_PRECISION
