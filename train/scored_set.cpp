#include "train/scored_set.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "train/config_derived.h"

namespace tapeline {

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
    fail<DataError>("evaluate: the text has {} token{}; at least 2 are needed to score one", tokens,
                    tokens == 1 ? "" : "s");
  }
  return set;
}

ScoredSet scored_subset(const ScoredSet& set, Index targets, Index piece) {
  require<ConfigError>(targets >= 1 && piece >= 1, "scored subset: {} targets in pieces of {}; at least 1",
                       targets, piece);
  piece = std::min(piece, targets);
  const auto pieces_in = [piece](const ScoredSegment& s) { return std::max<Index>(1, s.count / piece); };
  Index slots = 0;
  for (const ScoredSegment& segment : set.segments) slots += pieces_in(segment);
  const Index wanted = std::min(slots, std::max<Index>(1, targets / piece));
  ScoredSet subset;
  subset.longest = set.longest;
  Index chosen = 0, slot = 0;
  for (const ScoredSegment& segment : set.segments) {
    for (Index i = 0; i < pieces_in(segment); ++i, ++slot) {
      if (chosen == wanted || slot != slots * chosen / wanted) continue;
      const Index begin = segment.begin + i * piece;
      subset.segments.push_back(
          {segment.history_begin, begin, std::min(piece, segment.begin + segment.count - begin)});
      ++chosen;
    }
  }
  return subset;
}

ScoredSet single_targets(const ScoredSet& set, Index count, Index reach) {
  require<ConfigError>(count >= 1, "single targets: {} of them; at least 1", count);
  const auto skipped = [](const ScoredSegment& segment, Index history) {
    return std::clamp<Index>(segment.history_begin + history - segment.begin, 0, segment.count);
  };
  const auto candidates = [&](Index history) {
    Index total = 0;
    for (const ScoredSegment& segment : set.segments) total += segment.count - skipped(segment, history);
    return total;
  };
  if (candidates(reach) == 0) reach = 0;
  const Index all = candidates(reach);
  const Index wanted = std::min(count, all);
  ScoredSet targets;
  targets.longest = set.longest;
  Index before = 0;  // candidates of the segments before this one
  for (const ScoredSegment& segment : set.segments) {
    const Index skip = skipped(segment, reach);
    const Index end = before + segment.count - skip;
    // The middle of each of `wanted` equal parts.
    for (auto chosen = static_cast<Index>(targets.segments.size()); chosen < wanted; ++chosen) {
      const Index place = all * (2 * chosen + 1) / (2 * wanted);
      if (place >= end) break;
      targets.segments.push_back({segment.history_begin, segment.begin + skip + place - before, 1});
    }
    before = end;
  }
  return targets;
}

Splits configured_splits(const Config& config, Index tokens) {
  const std::vector<Index> lengths = evaluation_lengths(config);
  const Index longest = lengths.empty() ? config.train.length : *std::ranges::max_element(lengths);
  return split_blocks(tokens, config.data.block, config.train.length, longest, config.data.validation_share,
                      config.data.test_share);
}

}  // namespace tapeline
