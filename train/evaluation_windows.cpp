#include "train/evaluation_windows.h"

#include <algorithm>

#include "core/error.h"

namespace tapeline {

namespace {

void add_nonoverlapping(const ScoredSegment& segment, Index number, Index length,
                        std::vector<EvaluationWindow>& windows) {
  const Index end = segment.begin + segment.count;
  for (Index target = segment.begin; target < end; target += length) {
    const Index count = std::min(length, end - target);
    windows.push_back({target - 1, count, count, number});
  }
}

void add_sliding(const ScoredSegment& segment, Index number, Index length, Index stride,
                 std::vector<EvaluationWindow>& windows) {
  const Index end = segment.begin + segment.count;
  Index next = segment.begin;  // the first target that no window has scored
  while (next < end) {
    // One past the last target. A window that would begin before the text begins at its start instead and
    // scores everything it sees.
    const Index stop = std::max(next + stride, std::min(segment.history_begin + length + 1, next + length));
    const Index begin = std::max(segment.history_begin, stop - 1 - length);
    const Index last = std::min(stop, end);
    windows.push_back({begin, last - 1 - begin, last - next, number});
    next = last;
  }
}

}  // namespace

std::vector<EvaluationWindow> evaluation_windows(const ScoredSet& set, const EvaluationCell& cell) {
  require<ConfigError>(cell.length >= 1, "evaluate: a window of {} tokens; at least 1", cell.length);
  std::vector<EvaluationWindow> windows;
  for (std::size_t i = 0; i < set.segments.size(); ++i) {
    const ScoredSegment& segment = set.segments[i];
    if (cell.protocol == Protocol::sliding) {
      require<ConfigError>(
          cell.stride >= 1 && cell.stride <= cell.length,
          "evaluate: a sliding stride of {} with windows of {}; it must lie between 1 and the "
          "window",
          cell.stride, cell.length);
      add_sliding(segment, static_cast<Index>(i), cell.length, cell.stride, windows);
    } else {
      add_nonoverlapping(segment, static_cast<Index>(i), cell.length, windows);
    }
  }
  return windows;
}

}  // namespace tapeline
