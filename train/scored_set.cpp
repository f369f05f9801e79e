#include "train/scored_set.h"

#include <algorithm>
#include <cmath>

#include "core/counted.h"
#include "core/error.h"
#include "train/config_derived.h"

namespace tapeline {
namespace {

/// Pieces of `piece` targets side by side from the segment's begin; a shorter segment is one by itself.
Index pieces_in(const ScoredSegment& segment, Index piece) {
  return std::max<Index>(1, segment.count / piece);
}

/// How many of them, from the first on, have fewer than `reach` tokens before them.
Index without_reach(const ScoredSegment& segment, Index piece, Index reach) {
  const Index lacking = segment.history_begin + reach - segment.begin;
  return std::clamp<Index>((lacking + piece - 1) / piece, 0, pieces_in(segment, piece));
}

/// The pieces with `reach` tokens before them, in all segments.
Index pieces_of(const ScoredSet& set, Index piece, Index reach) {
  Index pieces = 0;
  for (const ScoredSegment& segment : set.segments)
    pieces += pieces_in(segment, piece) - without_reach(segment, piece, reach);
  return pieces;
}

/// `wanted` of these pieces, at most all: the middle one of each of as many equal parts.
ScoredSet spread_pieces(const ScoredSet& set, Index piece, Index wanted, Index reach) {
  const Index all = pieces_of(set, piece, reach);
  ScoredSet chosen;
  chosen.longest = set.longest;
  Index before = 0;  // pieces of the segments before this one
  for (const ScoredSegment& segment : set.segments) {
    const Index skipped = without_reach(segment, piece, reach);
    const Index end = before + pieces_in(segment, piece) - skipped;
    for (auto part = static_cast<Index>(chosen.segments.size()); part < wanted; ++part) {
      const Index place = all * (2 * part + 1) / (2 * wanted);
      if (place >= end) break;
      const Index begin = segment.begin + (skipped + place - before) * piece;
      chosen.segments.push_back(
          {segment.history_begin, begin, std::min(piece, segment.begin + segment.count - begin)});
    }
    before = end;
  }
  return chosen;
}

}  // namespace

Index ScoredSet::tokens() const {
  Index total = 0;
  for (const ScoredSegment& segment : segments) total += segment.count;
  return total;
}

ScoredSet scored_set(const std::vector<TokenRange>& blocks, Index longest) {
  require<ConfigError>(longest >= 1, "scored set: a longest window of {} tokens; at least 1", longest);
  Index block = 0;
  for (const TokenRange& range : blocks) block = std::max(block, range.count);
  require<DataError>(
      !blocks.empty() && longest <= block / 4,
      "scored set: the longest window, {} tokens, is more than a quarter of a validation block "
      "of {}; evaluate shorter windows, give the text with --text, or score every token with "
      "--scored all",
      longest, block);
  const double wanted = static_cast<double>(scored_targets) /
                        (static_cast<double>(longest) * static_cast<double>(blocks.size()));
  ScoredSet set;
  set.longest = longest;
  for (const TokenRange& range : blocks) {
    const Index most = range.count / longest - 1;  // the first `longest` tokens are history only
    if (most < 1) continue;
    const Index count = std::clamp<Index>(std::llround(wanted), 1, most);
    const Index first = range.begin + longest;
    const Index room = range.count - 2 * longest;  // from the first segment's begin to the last one's
    for (Index i = 0; i < count; ++i) {
      const Index offset = count == 1 ? 0 : room * i / (count - 1);
      set.segments.push_back({range.begin, first + offset, longest});
    }
  }
  return set;
}

ScoredSet scored_all(const std::vector<TokenRange>& ranges) {
  ScoredSet set;
  for (const TokenRange& range : ranges) {
    if (range.count >= 2) set.segments.push_back({range.begin, range.begin + 1, range.count - 1});
  }
  if (set.segments.empty()) {
    Index tokens = 0;
    for (const TokenRange& range : ranges) tokens += range.count;
    fail<DataError>("evaluate: the text has {}; at least 2 are needed to score one",
                    counted(tokens, "token"));
  }
  return set;
}

ScoredSet scored_subset(const ScoredSet& set, Index targets, Index piece) {
  require<ConfigError>(targets >= 1 && piece >= 1, "scored subset: {} targets in pieces of {}; at least 1",
                       targets, piece);
  if (targets >= set.tokens()) return set;
  const Index wanted = std::min(pieces_of(set, piece, 0), std::max<Index>(1, targets / piece));
  return spread_pieces(set, piece, wanted, pieces_of(set, piece, piece) >= wanted ? piece : 0);
}

ScoredSet single_targets(const ScoredSet& set, Index count, Index reach) {
  require<ConfigError>(count >= 1, "single targets: {} of them; at least 1", count);
  if (pieces_of(set, 1, reach) == 0) reach = 0;
  return spread_pieces(set, 1, std::min(count, pieces_of(set, 1, reach)), reach);
}

Splits configured_splits(const Config& config, Index tokens) {
  const std::vector<Index> lengths = evaluation_lengths(config);
  const Index longest = lengths.empty() ? config.train.length : *std::ranges::max_element(lengths);
  return split_blocks(tokens, config.data.block, config.train.length, longest, config.data.validation_share,
                      config.data.test_share);
}

}  // namespace tapeline
