#pragma once

#include <vector>

#include "data/splits.h"
#include "train/config.h"

namespace tapeline {

/// Targets [begin, begin + count) that are scored; what stands at and after `history_begin` may be seen.
struct ScoredSegment {
  Index history_begin = 0;
  Index begin = 0;
  Index count = 0;
};

/// A set of target indices, the same for every length and every encoding.
struct ScoredSet {
  std::vector<ScoredSegment> segments;
  Index longest = 0;  ///< T_max, the longest window it was made for; 0 for "all"
  Index tokens() const;
};

/// About how many targets a scored set has.
inline constexpr Index scored_targets = 36864;

/// In each block the first `longest` tokens are history only; then whole segments of `longest` targets, as
/// many a block as reach about 36,864 targets in all, at least one, evenly spaced over the block. Throws
/// DataError when `longest` is more than a quarter of a block, with both numbers.
ScoredSet scored_set(const std::vector<TokenRange>& blocks, Index longest);

/// Every token of each range but the first; early targets have less history. Throws DataError when there is
/// nothing to score.
ScoredSet scored_all(const std::vector<TokenRange>& ranges);

/// About `targets` of them, in whole pieces of `piece` targets, at least one: what the sliding protocol can
/// afford. They are the middle ones of equal parts of the set, so that they are evenly spaced, and where that
/// leaves enough, only pieces with `piece` tokens before them: the beginning of a text has no history. The
/// whole set where it has no more targets.
ScoredSet scored_subset(const ScoredSet& set, Index targets, Index piece);

/// `count` targets, each in a segment of its own, spread evenly over those that have `reach` tokens before
/// them; over all targets where none has.
ScoredSet single_targets(const ScoredSet& set, Index count, Index reach);

/// The blocks of the configuration over a text of that many tokens: block size, shares, and the longest
/// length to be evaluated all come from the configuration.
Splits configured_splits(const Config& config, Index tokens);

}  // namespace tapeline
