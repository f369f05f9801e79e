#pragma once

#include "train/target_losses.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// The hard-window control: non-overlapping windows of `length`, on the targets of nonoverlapping(length),
/// with the attention of every layer limited to the last L keys, L the trained length, the query itself
/// counted. Positions are those of the whole window. A model with a narrower window of its own keeps that,
/// and one with a window keeps its sinks. A model that is no better without the limit does not use the longer
/// window, it is only not harmed by it. (Through n layers a row still hears of n (L - 1) tokens before it.)
/// Figures: nll, tail_nll (nats a token), bits_per_byte.
ProbeResult hard_window_probe(const ProbeSubject& subject, Index length, const EvaluationOptions& options);

}  // namespace tapeline::inline TAPELINE_PRECISION
