#pragma once

#include <span>
#include <vector>

#include "train/target_losses.h"

namespace tapeline {

/// How many of the last tokens are kept in order in windows of `length`: none, then 8, 16, 32, ... up to half
/// of it.
std::vector<Index> shuffle_spans(Index length);

/// Permutes the inputs of a window but the last `kept`, which stay. The order depends on the target, its
/// number in the text, and on `kept` only: it is the same for every model and every run. Nothing is done
/// where `kept` reaches over all of them.
void shuffle_history(std::span<Token> inputs, Index kept, Index target);

}  // namespace tapeline

namespace tapeline::inline TAPELINE_PRECISION {

/// The shuffle test (after Khandelwal, He, Qi, Jurafsky 2018, 1805.04623): what the order of the farther
/// history is worth. Each of plan.probe_targets is predicted from the `length` tokens before it, of which the
/// last w stand in order and all before them in a random one; w by shuffle_spans(length), 0: the whole
/// history is shuffled, the very last token with it. Figures, in nats a token: nll by span w; delta_nll by
/// span w, minus that in order; nll at span `length`, in order.
ProbeResult shuffle_probe(const ProbeSubject& subject, Index length, const EvaluationOptions& options);

}  // namespace tapeline::inline TAPELINE_PRECISION
