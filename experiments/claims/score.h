#pragma once

#include <vector>

#include "experiments/claims/claim.h"

/// Claims about masks and about factors on the scores.
namespace tapeline {

/// Keys with a weight in each of `rows` rows of attention under the mask.
std::vector<Index> keys_seen_by_rows(const KeyMask& mask, Index rows);
/// True: every row from row window-1 on sees `window` keys, the last of them its own.
ClaimFinding window_counts_itself(const KeyMask& mask, Index window);

/// How far back a token can stand and still change the last row of a model without positions: in rows of the
/// last one's own number less the token's.
Index farthest_seen(Index layers, Index window);
/// True: no farther than the window.
ClaimFinding window_bounds_the_model(Index layers, Index window);

/// What log-n scaling does to the output of random attention, against two readings of it; largest
/// differences.
struct ScaleReadings {
  double plain = 0;                ///< from attention without it
  double added = 0;                ///< from attention with the coefficient added to the scores
  double multiplied = 0;           ///< from attention with the scores multiplied by it
  double at_base = 0, at_end = 0;  ///< the coefficient of the row that sees 64 keys, and 256
};
ScaleReadings logn_readings();
/// True: it is what adding the coefficient gives, within 1e-5, and not what multiplying gives.
ClaimFinding logn_is_added(const ScaleReadings& readings);

/// Mean entropy in nats of rows that see `keys` keys, of random queries and keys, with or without log-n
/// scaling to base 64.
double entropy_of_rows(Index keys, bool scaled);
/// Entropies at 64, 256, 1024 and 4096 keys. True: the scaled ones lie within 5 % of the first.
ClaimFinding logn_keeps_entropy(const std::vector<double>& scaled, const std::vector<double>& plain);

}  // namespace tapeline
