#pragma once

#include <vector>

#include "core/index.h"

namespace tapeline {

/// Tokens [begin, begin + count) of a store.
struct TokenRange {
  Index begin = 0, count = 0;
};

/// The text cut into blocks of equal size (the last one may be shorter), dealt out interleaved: of every ten
/// blocks one goes to validation and one to test at shares of 0.1. No window crosses a block, and each list
/// is in order.
struct Splits {
  Index block = 0;
  std::vector<TokenRange> train, validation, test;
};

/// `block` 0: 65,536 tokens when that gives at least 40 blocks, else the largest power of two that gives 40,
/// at least four times `longest` (the longest window to be evaluated). Throws DataError with the size needed
/// for a text too small for `train_length`, or for the validation it must hold. A validation share of 0
/// trains without.
Splits split_blocks(Index tokens, Index block, Index train_length, Index longest, double validation_share,
                    double test_share);

}  // namespace tapeline
