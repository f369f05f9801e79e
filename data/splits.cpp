#include "data/splits.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/counted.h"
#include "core/error.h"

namespace tapeline {
namespace {

constexpr Index largest_block = 65536;
constexpr Index wanted_blocks = 40;
/// A validation block holds at least so many of the longest windows.
constexpr Index windows_a_block = 4;

// Shares such as 0.1 are not exact in binary: what misses a whole number by less than this has reached it.
constexpr double tolerance = 1e-9;

/// How many of the first `blocks` blocks are due to validation. Half a period early, so that at a share of
/// 0.1 it is block 4 of every ten.
Index validation_due(Index blocks, double share) {
  return share > 0 ? static_cast<Index>(std::floor(static_cast<double>(blocks) * share + 0.5 + tolerance))
                   : 0;
}

/// How many are due to test: block 9 of every ten at a share of 0.1.
Index test_due(Index blocks, double share) {
  return static_cast<Index>(std::floor(static_cast<double>(blocks) * share + tolerance));
}

/// How many blocks there must be for one to be validation.
Index blocks_for_validation(double share) {
  Index blocks = 1;
  while (validation_due(blocks, share) == 0) ++blocks;
  return blocks;
}

Index automatic_block(Index tokens, Index longest) {
  Index block = largest_block;
  if (tokens / largest_block < wanted_blocks) {
    const Index room = std::max<Index>(tokens / wanted_blocks, 1);
    block = static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(room)));
  }
  return std::max(block, windows_a_block * longest);
}

}  // namespace

Splits split_blocks(Index tokens, Index block, Index train_length, Index longest, double validation_share,
                    double test_share) {
  require<ConfigError>(train_length >= 1, "train.length is {}; it must be at least 1", train_length);
  require<ConfigError>(block >= 0, "data.block is {}; it must be positive, or \"auto\"", block);
  require<ConfigError>(validation_share >= 0 && test_share >= 0 && validation_share + test_share < 1,
                       "data.validation_share is {} and data.test_share is {}; neither may be negative, and "
                       "their sum must be below 1",
                       validation_share, test_share);
  require<DataError>(tokens > train_length,
                     "the text is too small: it has {}, and one training window of {} needs {} (its "
                     "inputs and one target more); give more text or a smaller train.length",
                     counted(tokens, "token"), train_length, train_length + 1);
  longest = std::max(longest, train_length);

  Splits splits;
  splits.block = block > 0 ? block : automatic_block(tokens, longest);
  require<ConfigError>(
      splits.block > train_length,
      "data.block is {}; a training window of {} needs a block of at least {}, since no window "
      "crosses a block",
      splits.block, train_length, train_length + 1);
  if (validation_share > 0) {
    require<ConfigError>(
        splits.block >= windows_a_block * longest,
        "data.block is {}; evaluation at {} tokens needs blocks of at least {}: set data.block "
        "to that or to \"auto\", or evaluate at {} tokens at most",
        splits.block, longest, windows_a_block * longest, splits.block / windows_a_block);
    const Index needed = blocks_for_validation(validation_share) * splits.block;
    const Index least =
        block > 0 ? needed : blocks_for_validation(validation_share) * windows_a_block * longest;
    require<DataError>(
        tokens >= needed,
        "the text is too small: it has {}, and at least {} are needed (with the tokenizer "
        "\"bytes\" as many bytes) to hold back a validation block for evaluation at length {}; "
        "give more text, evaluate at shorter lengths, or set data.validation_share = 0",
        counted(tokens, "token"), least, longest);
  } else if (tokens / splits.block == 0) {
    splits.block = tokens;  // nothing is held back from a text this small
  }

  Index validation = 0, test = 0;
  for (Index i = 0; i * splits.block < tokens; ++i) {
    const TokenRange range{i * splits.block, std::min(splits.block, tokens - i * splits.block)};
    // A short last block is too short to evaluate on.
    if (range.count < splits.block) {
      splits.train.push_back(range);
    } else if (validation < validation_due(i + 1, validation_share)) {
      splits.validation.push_back(range);
      ++validation;
    } else if (test < test_due(i + 1, test_share)) {
      splits.test.push_back(range);
      ++test;
    } else {
      splits.train.push_back(range);
    }
  }
  const bool trainable = std::any_of(splits.train.begin(), splits.train.end(),
                                     [&](const TokenRange& range) { return range.count > train_length; });
  require<DataError>(
      trainable,
      "the text is too small: of its {} tokens, in blocks of {}, no block is left to train windows "
      "of {}; give more text or smaller shares",
      tokens, splits.block, train_length);
  return splits;
}

}  // namespace tapeline
