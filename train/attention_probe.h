#pragma once

#include "train/target_losses.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// Where the heads look, in non-overlapping windows of `length` over plan.attention. For each layer and head
/// the mean over all rows of
/// - entropy: - sum_j p_j ln p_j, nats
/// - normalized_entropy: that over ln n, n the keys that the row sees; 1 is equal attention to all
/// - sink_mass: the weight on the first four tokens of the window (Xiao et al. 2024, 2309.17453)
/// - distance: sum_j p_j (i - j), tokens
/// - normalized_distance: that over the distance of the farthest key the row sees (after Kazemnejad et al.
///   2023, 2305.19466)
///
/// The normalised ones over the rows that see more than one key. `tokens` of a figure counts its rows.
ProbeResult attention_probe(const ProbeSubject& subject, Index length, const EvaluationOptions& options);

}  // namespace tapeline::inline TAPELINE_PRECISION
