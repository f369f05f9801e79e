#pragma once

#include "train/evaluate.h"
#include "train/probe.h"

namespace tapeline {

/// The in-context score of one non-overlapping evaluation: how much better late tokens of a window are
/// predicted than early ones,
///   score = late - early,  late: the mean loss at positions (0.85 T, 0.95 T], early: at (0.05 T, 0.15 T]
/// (after Olsson et al. 2022, 2209.11895: token 500 minus token 50), in nats a token. Below 0: the model uses
/// what it has read. A window shorter than 7 has no such positions, and no figures.
ProbeResult in_context_probe(const EvaluationResult& nonoverlapping);

}  // namespace tapeline
