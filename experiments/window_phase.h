#pragma once

#include "experiments/statistics/bootstrap.h"
#include "train/probe.h"

namespace tapeline {

/// What the probe phase found, beside what another text might have made of the same loss.
struct WindowPhase {
  double shifted = 0;           ///< loss in nats a token, on the grid shifted by half a window
  double difference = 0;        ///< less that on the grid as it is
  BootstrapInterval over_text;  ///< of the loss on the grid as it is, by its segments

  /// Whether there is an interval.
  bool can_tell() const;
  /// Whether the loss of the shifted grid lies in it: where the windows are cut does not matter then.
  bool inside() const;
};

/// Of a probe with status "ok" and the evaluation over the same targets; nullptr: no interval.
WindowPhase window_phase(const ProbeResult& probe, const EvaluationResult* unshifted);

}  // namespace tapeline
