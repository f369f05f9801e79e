#pragma once

#include "experiments/claims/claim.h"
#include "experiments/encodings/view.h"

/// Claims about rotary positions. Each takes the encoding that it looks at.
namespace tapeline {

/// What a rotation does to the length of a row, at positions 0 .. count-1: the largest relative change.
double largest_norm_change(const EncodingView& view, Index count);
/// True: no change above 1e-5 under either of two pairings.
ClaimFinding rotation_keeps_norms(const EncodingView& halves, const EncodingView& neighbours);

/// True: for one query and one key the product at an offset is the same wherever the two stand, within 1e-5
/// of the product of their norms.
ClaimFinding rotation_knows_the_offset(const EncodingView& view);
/// The product of two equal vectors of ones by distance. True: it never rises; on average: its means over
/// distances 2^k .. 2^(k+1) - 1 fall.
ClaimFinding rotation_falls(const EncodingView& view);
/// True: the root mean square of q . k over random pairs is a tenth less at distances 512 .. 1023 than at
/// 1 .. 8.
ClaimFinding rotation_falls_for_any(const EncodingView& view);
/// True: a pair's wavelength is longer than the trained length of the plan.
ClaimFinding rotation_has_slow_pairs(const EncodingView& view, const EncodingView& small);
/// True: with the features of queries and keys permuted, (p, p + r/2) to (2p, 2p + 1), `neighbours` gives the
/// products of `halves`, within 1e-5 of the product of the norms.
ClaimFinding rotation_pairings_agree(const EncodingView& halves, const EncodingView& neighbours);
/// True: only the first layer turns its queries and keys.
ClaimFinding rotation_in_first_layer(const EncodingView& view);

/// Largest error of a cosine whose angle, position times frequency, is taken in float32, over 64 pairs and
/// the 512 positions up to `position`.
double float_angle_error(Index position);
/// True: those errors are below 1e-4 at positions 4095 and 131071. `table_error`: that of the encoding.
ClaimFinding float_angles_are_enough(double at_4095, double at_131071, double table_error);

}  // namespace tapeline
