#pragma once

#include <optional>
#include <vector>

#include "train/evaluate.h"
#include "train/probe.h"

namespace tapeline {

/// What longer windows would give a model for which tokens farther back than L neither help nor hurt. The
/// first targets of a window have little history (the early-token curse), and k = T / L times longer windows
/// dilute their share:
///   predicted = s + g / k,   g = nonoverlapping(L) - s,   s = sliding(L, stride 1)
/// (after Press, Smith, Lewis 2022, 2108.12409, appendix B). All in nats a token, on the sliding subset.
struct CurseOnly {
  double full_history = 0;  ///< s
  double gap = 0;           ///< g
  double predicted = 0;     ///< of windows of T
  double observed = 0;      ///< nonoverlapping(T)
  Index tokens = 0;         ///< targets of the subset
  /// Near 0: longer windows only dilute the curse. Clearly below: farther tokens help; above: they hurt.
  double residual() const { return observed - predicted; }
};

/// The prediction for windows of `length` out of the evaluations of one model; nothing where one of the three
/// is missing, refused or diverged.
std::optional<CurseOnly> curse_only(const std::vector<EvaluationResult>& results, Index trained_length,
                                    Index length);

/// NLL_nonoverlapping(T) - (s + g / k) in nats a token; see CurseOnly.
std::optional<double> curse_only_residual(const std::vector<EvaluationResult>& results, Index trained_length,
                                          Index length);

/// The same as the result of the probe "residual". Refused and diverged evaluations make it so, too.
ProbeResult residual_probe(const std::vector<EvaluationResult>& results, Index trained_length, Index length);

}  // namespace tapeline
