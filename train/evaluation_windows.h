#pragma once

#include <vector>

#include "train/evaluate.h"

namespace tapeline {

/// One window of an evaluation: inputs [begin, begin + inputs), of whose targets (the inputs moved on by one)
/// the last `scored` are scored. `segment`: the scored segment it belongs to.
struct EvaluationWindow {
  Index begin = 0;
  Index inputs = 0;
  Index scored = 0;
  Index segment = 0;
};

/// The windows that cover every target of `set` exactly once. Non-overlapping: windows of T side by side, the
/// last one of a segment shorter where T does not divide it. Sliding: T inputs, the last S targets scored;
/// where the text does not reach back far enough, the first window scores all its targets.
std::vector<EvaluationWindow> evaluation_windows(const ScoredSet& set, const EvaluationCell& cell);

}  // namespace tapeline
