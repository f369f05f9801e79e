#pragma once

#include <functional>
#include <vector>

#include "experiments/claims/claim.h"
#include "experiments/encodings/view.h"

/// Claims about ALiBi, and about what a bias may and may not change.
namespace tapeline {

/// Slopes of a number of heads.
using SlopesOfHeads = std::function<std::vector<double>(Index heads)>;
/// Those of ALiBi as this library builds it.
std::vector<double> built_slopes(Index heads);
/// True: for every number of heads up to 128 they are 2^(-8h/n), h = 1 .. n.
ClaimFinding slopes_are_geometric(const SlopesOfHeads& slopes_of);

/// The bias of slope 1/2 by distance, negative for a key after its query.
using BiasOfDistance = std::function<double(Index distance)>;
/// True: of 32 equal keys without a mask, the middle query gives more weight to those after it than to those
/// before it.
ClaimFinding bias_rewards_the_future(const BiasOfDistance& bias);

/// What is added to the score of row i and key j.
struct AddedScore {
  std::function<double(Index row)> by_row;
  std::function<double(Index key)> by_key;
};
/// True: random attention over 64 rows gives the same output with it, within 1e-5.
ClaimFinding addition_changes_nothing(const AddedScore& added);

/// Errors of attention's output under a bias of slope 1/2, in float32 against double: the bias taken from the
/// number of the key, j / 2, and from the distance, -(i - j) / 2.
struct BiasErrors {
  double by_key = 0, by_distance = 0;
};
/// Of the last 64 rows over `keys` keys.
BiasErrors bias_errors(Index keys);
/// True: the key's number costs at most 1e-5, and no more than ten times the error by distance.
ClaimFinding key_index_is_as_good(Index keys, const BiasErrors& errors);

/// Keys that hold 99 % of the weight of the last row, where the bias alone decides; by head.
std::vector<Index> keys_that_matter(const EncodingView& view, Index length);
/// True: for the steepest head at most 20, as many at 4096 as at 512.
ClaimFinding steepest_head_is_local(const EncodingView& view);

}  // namespace tapeline
