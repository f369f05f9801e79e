#pragma once

#include "experiments/claims/claim.h"
#include "layers/transformer.h"

/// Claims about what attention without positions knows of the order of tokens.
namespace tapeline {

/// The rows of two texts of the same characters, 我爱你 and 你爱我 (bytes of UTF-8), through one model. Rows
/// are as long as the square root of the width, about.
struct OrderDifference {
  double moved = 0;   ///< largest between the rows of a character, wherever it stands
  double stayed = 0;  ///< largest between the rows of a place, whatever stands there
  double last = 0;    ///< largest in the last row, between 我爱你 and 爱我你, which end alike
};
OrderDifference order_difference(const Transformer& model);

/// True: the rows have moved with the characters, and are otherwise equal, within 1e-5.
ClaimFinding order_cannot_be_told(const OrderDifference& difference);
/// True: the rows are those of the places, within 1e-5: no order changes any of them.
ClaimFinding order_changes_nothing(const OrderDifference& difference);
/// True: the last row of one layer tells the order of what stands before it, by more than 1e-5.
ClaimFinding order_known_to_one_layer(const OrderDifference& one_layer, const OrderDifference& two_layers);

}  // namespace tapeline
