#pragma once

#include <string>
#include <vector>

#include "experiments/compare/comparison.h"

namespace tapeline {

/// The whole of probes.csv: a heading, then a line a figure, cell by cell in the order of the plan.
///   name, kind, evaluation, seed, train_length   as in results.csv
///   probe        residual, in_context, hard_window, phase, history, shuffle, attention; see probe_names()
///   eval_length  T, tokens of a window
///   span         history: tokens of history; shuffle: tokens kept in order; else empty
///   layer, head  attention: counted from 0; else empty
///   quantity     what the value is, see ProbeFigure
///   tokens       targets (attention: rows) that it is a mean over
///   value        as in results.csv
///   status       ok, refused, diverged; the latter two have one line without quantity and value
/// Nothing in it changes with a second run.
std::string probes_csv(const std::vector<FinishedCell>& cells);

}  // namespace tapeline
