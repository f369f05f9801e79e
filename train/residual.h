#pragma once

#include <optional>
#include <span>
#include <vector>

#include "train/evaluate.h"
#include "train/probe.h"

namespace tapeline {

/// How much of the early-token gap g is left in windows of `length` laid side by side over these segments:
/// the first targets of each window have little history, so it goes by the number of windows,
///   windows(T) / windows(L),   windows(T) = sum over the segments of ceil(tokens / T).
/// That is L / T where both lengths divide every segment, and is taken for L / T where no segments are known.
double share_of_gap(const std::vector<SegmentLoss>& segments, Index trained_length, Index length);

/// s + share g with g = a - s: the loss with full history, and the share of the gap that is left. `Loss`: a
/// number, or what adds, subtracts and takes factors like one.
template <class Loss>
Loss curse_only_loss(const Loss& full_history, const Loss& at_trained, double share) {
  return full_history + share * (at_trained - full_history);
}

/// What longer windows would give a model for which tokens farther back than L neither help nor hurt. The
/// first targets of a window have little history (the early-token curse), and in longer windows they are a
/// smaller share of all:
///   predicted = s + g windows(T) / windows(L),   g = nonoverlapping(L) - s,   s = sliding(L, stride 1)
/// (after Press, Smith, Lewis 2022, 2108.12409, appendix B, whose g / k this is with k = T / L where T and L
/// divide the pieces of the subset). All in nats a token, on the sliding subset.
struct CurseOnly {
  double full_history = 0;  ///< s
  double gap = 0;           ///< g
  double share = 0;         ///< windows(T) / windows(L), see share_of_gap()
  double predicted = 0;     ///< of windows of T
  double observed = 0;      ///< nonoverlapping(T)
  Index tokens = 0;         ///< targets of the subset
  /// Near 0: longer windows only dilute the curse. Clearly below: farther tokens help; above: they hurt.
  double residual() const { return observed - predicted; }
};

/// The prediction for windows of `length` out of the evaluations of one model; nothing where one of the three
/// is missing, refused or diverged.
std::optional<CurseOnly> curse_only(std::span<const EvaluationResult> results, Index trained_length,
                                    Index length);

/// nonoverlapping(T) - predicted, in nats a token; see CurseOnly.
std::optional<double> curse_only_residual(std::span<const EvaluationResult> results, Index trained_length,
                                          Index length);

/// The same as the result of the probe "residual". Refused and diverged evaluations make it so, too.
ProbeResult residual_probe(std::span<const EvaluationResult> results, Index trained_length, Index length);

}  // namespace tapeline
