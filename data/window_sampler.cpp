#include "data/window_sampler.h"

#include <algorithm>

#include "core/error.h"

namespace tapeline {

WindowSampler::WindowSampler(const TokenStore& store, std::vector<TokenRange> ranges, Index length,
                             std::uint64_t seed, Index rank, Index ranks)
    : store_(store),
      ranges_(std::move(ranges)),
      length_(length),
      key_(random_key(seed, "order")),
      rank_(rank),
      ranks_(ranks) {
  require<ShapeError>(length >= 1, "sampler: the window length is {}; it must be at least 1", length);
  require<ShapeError>(ranks >= 1 && rank >= 0 && rank < ranks, "sampler: rank {} of {} ranks does not exist",
                      rank, ranks);
  Index longest = 0;
  for (const TokenRange& range : ranges_) {
    require<ShapeError>(range.begin >= 0 && range.count >= 0 && range.begin + range.count <= store.size(),
                        "sampler: the range [{}, {}) lies outside the {} tokens of the text", range.begin,
                        range.begin + range.count, store.size());
    longest = std::max(longest, range.count);
  }
  require<DataError>(longest > length,
                     "the text is too small: the longest piece to train on has {} tokens, and a window of {} "
                     "needs {} (its inputs and one target more)",
                     longest, length, length + 1);
  // What holds no window never will.
  std::erase_if(ranges_, [&](const TokenRange& range) { return range.count <= length; });
  first_window_.resize(ranges_.size() + 1);
  begin_epoch();
}

void WindowSampler::begin_epoch() {
  epoch_key_ = key_.child(cursor_.epoch);
  epoch_phase_ =
      static_cast<Index>(random_below(epoch_key_.child("phase"), 0, static_cast<std::uint64_t>(length_)));
  Index windows = 0;
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    first_window_[i] = windows;
    windows += (ranges_[i].count - 1 - phase(ranges_[i])) / length_;
  }
  first_window_.back() = windows;
}

/// Tokens skipped at the front of a range in this epoch. Folded where the whole phase would leave a short
/// range without a window: a range of T + 1 tokens always gives its one.
Index WindowSampler::phase(const TokenRange& range) const {
  return epoch_phase_ % std::min(length_, range.count - length_);
}

Index WindowSampler::start_of(Index place) const {
  const Index window = random_permutation(epoch_key_, place, windows_per_epoch());
  const auto after = std::upper_bound(first_window_.begin(), first_window_.end(), window);
  const auto at = static_cast<std::size_t>(after - first_window_.begin() - 1);
  return ranges_[at].begin + phase(ranges_[at]) + (window - first_window_[at]) * length_;
}

void WindowSampler::advance() {
  if (++cursor_.index < windows_per_epoch()) return;
  ++cursor_.epoch;
  cursor_.index = 0;
  begin_epoch();
}

void WindowSampler::next(Index count, std::span<Token> inputs, std::span<Token> targets, Watch* watch) {
  const WatchScope watched(watch, Timing::Kind::op, Phase::data, "batch sampling");
  const auto needed = static_cast<std::size_t>(count * length_);
  require<ShapeError>(count >= 0 && inputs.size() == needed && targets.size() == needed,
                      "sampler: {} windows of {} need {} inputs and targets; there is room for {} and {}",
                      count, length_, count * length_, inputs.size(), targets.size());
  last_starts_.clear();
  const auto width = static_cast<std::size_t>(length_);
  for (std::size_t row = 0; row < static_cast<std::size_t>(count); ++row) {
    for (Index rank = 0; rank < ranks_; ++rank) {
      if (rank == rank_) last_starts_.push_back(start_of(cursor_.index));
      advance();
    }
    store_.read(last_starts_.back(), inputs.subspan(row * width, width));
    store_.read(last_starts_.back() + 1, targets.subspan(row * width, width));
  }
  watched.describe({count, length_}, 0, static_cast<Index>(inputs.size_bytes() + targets.size_bytes()));
}

void WindowSampler::seek(SamplerCursor cursor) {
  const SamplerCursor before = cursor_;
  cursor_ = cursor;
  begin_epoch();
  if (cursor.index >= 0 && cursor.index < windows_per_epoch()) return;
  const Index windows = windows_per_epoch();
  cursor_ = before;
  begin_epoch();
  fail<StateError>(
      "sampler: cannot go on at window {} of epoch {}: that epoch has {} windows of {} tokens; the "
      "text, the length or the shares differ from those of the run",
      cursor.index, cursor.epoch, windows, length_);
}

}  // namespace tapeline
