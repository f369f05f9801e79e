#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "core/error.h"
#include "data/window_sampler.h"

namespace tapeline {
namespace {

TokenStore numbered_text(Index tokens) {
  std::string text;
  for (Index i = 0; i < tokens; ++i) text.push_back(static_cast<char>(i * 31 + i / 256));
  return TokenStore::from_text(text, *make_tokenizer("bytes"), "numbered");
}

/// Takes `count` windows and returns where they start; checks their tokens against the text.
std::vector<Index> take(WindowSampler& sampler, const TokenStore& store, Index count, Index length) {
  const auto size = static_cast<std::size_t>(count * length);
  std::vector<Token> inputs(size), targets(size), text(static_cast<std::size_t>(length) + 1);
  sampler.next(count, inputs, targets);
  const std::vector<Index> starts(sampler.last_starts().begin(), sampler.last_starts().end());
  REQUIRE(starts.size() == static_cast<std::size_t>(count));
  for (std::size_t row = 0; row < starts.size(); ++row) {
    store.read(starts[row], text);
    const auto at = static_cast<std::ptrdiff_t>(row) * length;
    CHECK(std::equal(text.begin(), text.end() - 1, inputs.begin() + at));
    CHECK(std::equal(text.begin() + 1, text.end(), targets.begin() + at));  // shifted by one
  }
  return starts;
}

const std::vector<TokenRange> three_blocks = {{0, 100}, {200, 100}, {300, 57}};

TEST_CASE("sampler: every window of every block once an epoch, none across a block") {
  const TokenStore store = numbered_text(400);
  WindowSampler sampler(store, three_blocks, 8, 3);
  std::set<Index> phases;
  for (int epoch = 0; epoch < 20; ++epoch) {
    CHECK(sampler.cursor() == SamplerCursor{static_cast<std::uint64_t>(epoch), 0});
    const Index windows = sampler.windows_per_epoch();
    std::vector<Index> starts = take(sampler, store, windows, 8);
    CHECK_FALSE(std::is_sorted(starts.begin(), starts.end()));
    std::sort(starts.begin(), starts.end());
    const Index phase = starts.front();
    phases.insert(phase);
    std::vector<Index> expected;
    for (const TokenRange& range : three_blocks)
      for (Index start = range.begin + phase; start + 8 + 1 <= range.begin + range.count; start += 8)
        expected.push_back(start);
    CHECK(starts == expected);
  }
  CHECK(phases.size() > 3);
  CHECK(*phases.rbegin() < 8);
}

TEST_CASE("sampler: the same windows however the steps are cut, into the next epochs") {
  const TokenStore store = numbered_text(400);
  WindowSampler whole(store, three_blocks, 8, 5), cut(store, three_blocks, 8, 5);
  const std::vector<Index> expected = take(whole, store, 200, 8);
  std::vector<Index> found;
  for (const Index count : {1, 7, 3, 60, 0, 29, 100}) {
    const std::vector<Index> part = take(cut, store, count, 8);
    found.insert(found.end(), part.begin(), part.end());
  }
  CHECK(found == expected);
  CHECK(cut.cursor() == whole.cursor());
}

TEST_CASE("sampler: resumed equals uninterrupted") {
  const TokenStore store = numbered_text(400);
  for (const Index before : {0, 1, 13, 29, 30, 31, 95}) {
    WindowSampler first(store, three_blocks, 8, 9), second(store, three_blocks, 8, 9);
    take(first, store, before, 8);
    second.seek(first.cursor());
    CHECK(second.windows_per_epoch() == first.windows_per_epoch());
    CHECK(take(second, store, 50, 8) == take(first, store, 50, 8));
  }
}

TEST_CASE("sampler: a cursor of another text is refused, and changes nothing") {
  const TokenStore store = numbered_text(400);
  WindowSampler sampler(store, three_blocks, 8, 9);
  take(sampler, store, 5, 8);
  const SamplerCursor before = sampler.cursor();
  CHECK_THROWS_AS(sampler.seek({0, sampler.windows_per_epoch()}), StateError);
  CHECK_THROWS_AS(sampler.seek({4, -1}), StateError);
  CHECK(sampler.cursor() == before);
}

TEST_CASE("sampler: ranks share the windows out, disjoint and complete, in equal numbers") {
  const TokenStore store = numbered_text(400);
  for (const Index ranks : {2, 3, 4}) {
    WindowSampler alone(store, three_blocks, 8, 1);
    const std::vector<Index> expected = take(alone, store, 30 * ranks, 8);
    std::vector<Index> found(expected.size());
    for (Index rank = 0; rank < ranks; ++rank) {
      WindowSampler sampler(store, three_blocks, 8, 1, rank, ranks);
      const std::vector<Index> mine = take(sampler, store, 30, 8);
      for (std::size_t i = 0; i < mine.size(); ++i)
        found[i * static_cast<std::size_t>(ranks) + static_cast<std::size_t>(rank)] = mine[i];
      CHECK(sampler.cursor() == alone.cursor());  // one checkpoint serves every rank
    }
    CHECK(found == expected);
  }
  CHECK_THROWS_AS(WindowSampler(store, three_blocks, 8, 1, 2, 2), ShapeError);
}

TEST_CASE("sampler: seeds differ, 0 is one like any other, and a seed repeats") {
  const TokenStore store = numbered_text(400);
  WindowSampler zero(store, three_blocks, 8, 0), again(store, three_blocks, 8, 0),
      one(store, three_blocks, 8, 1);
  const std::vector<Index> starts = take(zero, store, 60, 8);
  CHECK(take(again, store, 60, 8) == starts);
  CHECK(take(one, store, 60, 8) != starts);
}

TEST_CASE("sampler: short texts") {
  const TokenStore ten = numbered_text(10), sixteen = numbered_text(16), seventeen = numbered_text(17);
  CHECK_THROWS_WITH_AS(
      WindowSampler(ten, {{0, 10}}, 16, 0),
      "the text is too small: the longest piece to train on has 10 tokens, and a window of 16 needs "
      "17 (its inputs and one target more)",
      DataError);
  CHECK_THROWS_AS(WindowSampler(sixteen, {{0, 16}}, 16, 0), DataError);
  CHECK_THROWS_AS(WindowSampler(seventeen, {}, 16, 0), DataError);
  WindowSampler sampler(seventeen, {{0, 17}}, 16, 0);
  for (int epoch = 0; epoch < 5; ++epoch) CHECK(take(sampler, seventeen, 1, 16) == std::vector<Index>{0});
  CHECK(sampler.cursor() == SamplerCursor{5, 0});
  CHECK_THROWS_AS(WindowSampler(ten, {{5, 6}}, 4, 0), ShapeError);
}

}  // namespace
}  // namespace tapeline
