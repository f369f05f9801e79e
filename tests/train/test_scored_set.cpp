#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/error.h"
#include "train/evaluation_windows.h"
#include "train/scored_set.h"

namespace tapeline {
namespace {

std::vector<TokenRange> six_blocks() {
  std::vector<TokenRange> blocks;
  for (Index i = 0; i < 6; ++i) blocks.push_back({(4 + 10 * i) * 65536, 65536});
  return blocks;
}

/// How often each target is scored; every scored target lies in the window and within reach of its text.
std::vector<int> times_scored(const ScoredSet& set, const EvaluationCell& cell, Index tokens) {
  std::vector<int> times(static_cast<std::size_t>(tokens), 0);
  for (const EvaluationWindow& window : evaluation_windows(set, cell)) {
    CHECK(window.inputs <= cell.length);
    CHECK(window.scored <= window.inputs);
    const ScoredSegment& segment = set.segments[static_cast<std::size_t>(window.segment)];
    CHECK(window.begin >= segment.history_begin);
    const Index end = window.begin + window.inputs + 1;  // one past the last target
    for (Index target = end - window.scored; target < end; ++target)
      ++times[static_cast<std::size_t>(target)];
  }
  return times;
}

TEST_CASE("scored set: toy has 6 blocks of 6 segments of 1,024 targets") {
  const ScoredSet set = scored_set(six_blocks(), 1024);
  CHECK(set.segments.size() == 36);
  CHECK(set.tokens() == 36864);
  Index last_end = 0;
  for (const ScoredSegment& segment : set.segments) {
    CHECK(segment.count == 1024);
    CHECK(segment.begin - segment.history_begin >= 1024);
    CHECK(segment.begin + segment.count <= segment.history_begin + 65536);
    CHECK(segment.begin >= last_end);
    last_end = segment.begin + segment.count;
  }
  CHECK(last_end == six_blocks().back().begin + 65536);  // spread over the whole block
}

TEST_CASE("scored set: other longest windows") {
  CHECK(scored_set(six_blocks(), 512).tokens() == 36864);
  CHECK(scored_set(six_blocks(), 2048).tokens() == 36864);
  const ScoredSet longest = scored_set(six_blocks(), 16384);
  CHECK(longest.segments.size() == 6);  // at least one a block
  CHECK_THROWS_AS(scored_set(six_blocks(), 16385), DataError);
  CHECK_THROWS_AS(scored_set({}, 64), DataError);
  // Small blocks: as many as fit.
  CHECK(scored_set({{0, 256}, {1000, 256}}, 64).segments.size() == 6);
}

TEST_CASE("scored set: all is every token but the first") {
  CHECK(scored_all({{0, 100}}).tokens() == 99);
  CHECK(scored_all({{0, 5}}).tokens() == 4);
  CHECK(scored_all({{0, 10}, {20, 1}, {30, 10}}).tokens() == 18);
  CHECK_THROWS_WITH_AS(scored_all({{0, 1}}),
                       "evaluate: the text has 1 token; at least 2 are needed to score one", DataError);
  CHECK_THROWS_AS(scored_all({}), DataError);
}

TEST_CASE("scored set: the sliding subset") {
  const ScoredSet subset = scored_subset(scored_set(six_blocks(), 1024), 4096, 512);
  CHECK(subset.tokens() == 4096);
  CHECK(subset.segments.size() == 8);
  CHECK(subset.segments.back().begin > six_blocks().back().begin);  // spread over all blocks
  CHECK(scored_subset(scored_all({{0, 20}}), 4096, 8).tokens() == 19);
}

/// Pieces as long as they are to be, each within a segment of the set, none over another.
void check_pieces(const ScoredSet& subset, const ScoredSet& set, Index piece) {
  Index last_end = 0;
  for (const ScoredSegment& segment : subset.segments) {
    CHECK(segment.count == piece);
    CHECK(segment.begin >= last_end);
    last_end = segment.begin + segment.count;
    CHECK(std::ranges::any_of(set.segments, [&](const ScoredSegment& whole) {
      return segment.history_begin == whole.history_begin && segment.begin >= whole.begin &&
             last_end <= whole.begin + whole.count;
    }));
  }
}

TEST_CASE("scored set: the subset stands in the middle of equal parts, with history before every target") {
  for (const Index targets : {512, 4096, 5000, 16384}) {
    for (const Index piece : {1, 64, 512}) {
      CAPTURE(targets);
      CAPTURE(piece);
      for (const ScoredSet& set : {scored_all({{0, 40000}}), scored_all({{0, 30000}, {50000, 30000}}),
                                   scored_set(six_blocks(), 1024), scored_set(six_blocks(), 3000)}) {
        const ScoredSet subset = scored_subset(set, targets, piece);
        CHECK(static_cast<Index>(subset.segments.size()) == targets / piece);
        check_pieces(subset, set, piece);
        for (const ScoredSegment& segment : subset.segments)
          CHECK(segment.begin - segment.history_begin >= piece);
      }
    }
  }
  // A text by hand: as far from its end as from its beginning, evenly spaced.
  const ScoredSet subset = scored_subset(scored_all({{0, 40001}}), 4000, 500);
  REQUIRE(subset.segments.size() == 8);
  CHECK(subset.segments.front().begin == 1 + 5 * 500);
  CHECK(subset.segments.back().begin == 1 + 75 * 500);
  for (std::size_t i = 1; i < 8; ++i) {
    const Index gap = subset.segments[i].begin - subset.segments[i - 1].begin;
    CHECK(std::abs(gap - 5000) <= 500);
  }
  // Hardly more than is asked for: the beginning is left out as long as the others are enough.
  CHECK(scored_subset(scored_all({{0, 4600}}), 4000, 500).segments.front().begin == 501);
  CHECK(scored_subset(scored_all({{0, 4400}}), 4000, 500).segments.front().begin == 1);
  // Blocks give about as many pieces each.
  std::vector<Index> in_block(6, 0);
  for (const ScoredSegment& segment : scored_subset(scored_set(six_blocks(), 1024), 6144, 512).segments)
    ++in_block[static_cast<std::size_t>(segment.history_begin / (10 * 65536))];
  CHECK(in_block == std::vector<Index>{2, 2, 2, 2, 2, 2});
}

TEST_CASE("scored set: a subset of fewer targets than a piece is one whole piece") {
  const ScoredSet subset = scored_subset(scored_set(six_blocks(), 8192), 4096, 8192);
  REQUIRE(subset.segments.size() == 1);
  CHECK(subset.segments.front().count == 8192);
}

TEST_CASE("windows: 20 tokens, window 8, stride 4 score 19") {
  const ScoredSet set = scored_all({{0, 20}});
  const auto windows = evaluation_windows(set, {Protocol::sliding, 8, 4, false});
  std::vector<Index> begins;
  Index scored = 0;
  for (const EvaluationWindow& window : windows) {
    begins.push_back(window.begin);
    scored += window.scored;
  }
  CHECK(begins == std::vector<Index>{0, 4, 8, 12});
  CHECK(scored == 19);
}

TEST_CASE("windows: every target exactly once, whatever length and stride") {
  const ScoredSet hard{.segments = {{0, 1, 19}, {30, 62, 32}, {100, 103, 7}}, .longest = 0};
  for (const Index length : {1, 2, 3, 8, 16, 32, 50}) {
    for (Index stride = 1; stride <= length; ++stride) {
      for (const Protocol protocol : {Protocol::nonoverlapping, Protocol::sliding}) {
        const auto times = times_scored(hard, {protocol, length, stride, false}, 120);
        for (Index target = 0; target < 120; ++target) {
          bool wanted = false;
          for (const ScoredSegment& s : hard.segments) {
            wanted = wanted || (target >= s.begin && target < s.begin + s.count);
          }
          CHECK(times[static_cast<std::size_t>(target)] == (wanted ? 1 : 0));
        }
      }
    }
  }
}

TEST_CASE("windows: sliding gives every target its history") {
  const ScoredSet set = scored_set({{0, 4096}}, 256);
  for (const EvaluationWindow& window : evaluation_windows(set, {Protocol::sliding, 64, 16, false})) {
    CHECK(window.inputs == 64);  // T - S + 1 ... T tokens of history
    CHECK(window.scored == 16);
  }
  for (const EvaluationWindow& window : evaluation_windows(set, {Protocol::sliding, 64, 1, false})) {
    CHECK(window.inputs == 64);
    CHECK(window.scored == 1);
  }
}

TEST_CASE("windows: with stride = length the two protocols are one") {
  const ScoredSet set = scored_set({{0, 4096}}, 256);
  const auto plain = evaluation_windows(set, {Protocol::nonoverlapping, 64, 64, false});
  const auto sliding = evaluation_windows(set, {Protocol::sliding, 64, 64, false});
  REQUIRE(plain.size() == sliding.size());
  for (std::size_t i = 0; i < plain.size(); ++i) {
    CHECK(plain[i].begin == sliding[i].begin);
    CHECK(plain[i].inputs == sliding[i].inputs);
    CHECK(plain[i].scored == sliding[i].scored);
  }
}

}  // namespace
}  // namespace tapeline
