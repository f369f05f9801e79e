#pragma once

#include "experiments/claims/claim.h"
#include "experiments/encodings/view.h"

/// Claims about biases that come from a table or a kernel: T5, KERPLE, Sandwich, FIRE.
namespace tapeline {

/// Where the bias of head 0 changes from one distance to the next, from distance 0 on: the first distance of
/// each bucket.
std::vector<Index> bucket_begins_seen(const EncodingView& view, Index length);
/// True: distances 0 .. buckets/2 - 1 have a bucket each, and the next bucket holds several.
ClaimFinding half_of_buckets_are_exact(const EncodingView& view, Index buckets);
/// True: all distances from `max_distance` to four times it have one bias.
ClaimFinding far_distances_share_a_bucket(const EncodingView& view, Index max_distance);

/// True: the biases of two encodings are equal within 1e-5 of the largest at distances below `length`, in all
/// heads.
ClaimFinding biases_agree(const EncodingView& one, const EncodingView& other, Index length);
/// True: the bias of head 0 is H / 8 times what the inner product of sinusoidal rows has lost at that
/// distance, within 1e-5 of the largest.
ClaimFinding bias_is_product_of_rows(const EncodingView& bias, const VectorTable& rows);
/// True: at distances that two rows share their biases are equal within 1e-5.
ClaimFinding bias_knows_distance_alone(const EncodingView& view);

}  // namespace tapeline
