#pragma once

#include <limits>
#include <string>
#include <vector>

#include "core/index.h"

namespace tapeline {

/// One figure that a probe measured on one model: what, where, over how much.
struct ProbeFigure {
  std::string quantity;  ///< "nll" (nats a token), "entropy" (nats), "sink_mass", "distance" (tokens), ...
  Index span = 0;        ///< history: tokens of history; shuffle: tokens kept in order; else 0
  Index layer = -1, head = -1;  ///< of attention; -1: no single one
  Index tokens = 0;             ///< targets that it is a mean over; of attention: rows
  double value = std::numeric_limits<double>::quiet_NaN();
};

/// What one probe found at one length of window. Which probes there are: probe_names().
struct ProbeResult {
  std::string probe;          ///< "hard_window", "history", "in_context", "shuffle", "attention"
  Index length = 0;           ///< T, tokens of a window
  std::string status = "ok";  ///< "ok", "refused" (the encoding has no such length), "diverged"
  std::string reason;         ///< why, when not ok
  std::vector<ProbeFigure> figures;
};

}  // namespace tapeline
