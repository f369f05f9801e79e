#pragma once

#include <vector>

#include "train/target_losses.h"

namespace tapeline {

/// The windows of `length` side by side on a grid that lies half a window earlier than that of
/// evaluation_windows(), over the same targets. Of a segment the first window has the second half of its
/// targets scored, if the text goes back so far, the last one ends with the segment; each target is scored
/// once.
std::vector<EvaluationWindow> shifted_windows(const ScoredSet& set, Index length);

}  // namespace tapeline

namespace tapeline::inline TAPELINE_PRECISION {

/// The window phase: whether the loss of windows laid side by side depends on where the first one begins.
/// They are run once more on the grid shifted by half a window, over the targets of nonoverlapping(length);
/// as the half windows at both ends of a segment make one, the positions in the window are scored equally
/// often. A difference beyond what another text would make says that the cut decides, not the model. Figures:
/// nll on the shifted grid, delta_nll, the same less that of nonoverlapping(length), in nats a token. Takes
/// subject.evaluations; throws StateError where that evaluation is not among them.
ProbeResult phase_probe(const ProbeSubject& subject, Index length, const EvaluationOptions& options);

}  // namespace tapeline::inline TAPELINE_PRECISION
