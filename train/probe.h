#pragma once

#include <limits>
#include <string>
#include <vector>

#include "core/index.h"

namespace tapeline {

/// The names that [evaluate] probes takes, in the order in which they are measured and told. The first four
/// follow from the evaluations and cost nothing, the others run the model.
/// - positions: the mean loss by position in the window; part of every evaluation (EvaluationResult)
/// - tail: the mean loss at positions (T/2, T] of the window; likewise
/// - residual: what the loss in longer windows has beside a smaller share of early tokens (residual.h)
/// - in_context: the loss late in the window minus the loss early in it (in_context_probe.h)
/// - hard_window: longer windows, with attention limited to the last L keys (hard_window_probe.h)
/// - phase: windows side by side on a grid shifted by half a window (phase_probe.h)
/// - history: the loss of fixed targets by how many tokens stand before them (history_probe.h)
/// - shuffle: the loss of these targets with the farther history out of order (shuffle_probe.h)
/// - attention: entropy, sink mass and distance by head (attention_probe.h)
const std::vector<std::string>& probe_names();

/// One figure that a probe measured on one model: what, where, over how much. By probe, losses in nats a
/// token:
/// - residual: residual, predicted_nll
/// - in_context: early_nll, late_nll, score = late - early
/// - hard_window: nll, tail_nll, bits_per_byte
/// - phase: nll, delta_nll
/// - history: nll by span; effective_context in tokens
/// - shuffle: nll and delta_nll by span, nll at span T: in order
/// - attention: by layer and head entropy in nats, normalized_entropy, sink_mass, distance in tokens,
///   normalized_distance
struct ProbeFigure {
  std::string quantity;  ///< "nll" (nats a token), "entropy" (nats), "sink_mass", "distance" (tokens), ...
  Index span = 0;        ///< history: tokens of history; shuffle: tokens kept in order; else 0
  Index layer = -1, head = -1;  ///< of attention; -1: no single one
  Index tokens = 0;             ///< targets that it is a mean over; of attention: rows
  double value = std::numeric_limits<double>::quiet_NaN();
};

/// What one probe found at one length of window.
struct ProbeResult {
  std::string probe;          ///< of probe_names(); positions and tail are never told this way
  Index length = 0;           ///< T, tokens of a window
  std::string status = "ok";  ///< "ok", "refused" (the encoding has no such length), "diverged"
  std::string reason;         ///< why, when not ok
  std::vector<ProbeFigure> figures;

  /// The figure of that quantity, span, layer and head; nullptr for none.
  const ProbeFigure* find(const std::string& quantity, Index span = 0, Index layer = -1,
                          Index head = -1) const;
};

}  // namespace tapeline
