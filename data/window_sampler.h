#pragma once

#include <span>
#include <vector>

#include "core/random.h"
#include "core/watch.h"
#include "data/splits.h"
#include "data/token_store.h"

namespace tapeline {

/// Where the sampler stands: all it needs to go on. The same on every rank.
struct SamplerCursor {
  std::uint64_t epoch = 0;
  Index index = 0;  ///< windows of this epoch already given out, by all ranks together
  friend bool operator==(const SamplerCursor&, const SamplerCursor&) = default;
};

/// Training windows of T inputs and their T targets (the inputs shifted by one, once, here). Each epoch draws
/// a phase and then gives out every window of every block once, in permuted order; a step that needs more
/// goes on into the next epoch. The order is a function of (seed, epoch, index) alone. Of `ranks` processes
/// each takes every ranks-th window.
class WindowSampler {
 public:
  /// Throws DataError if no range holds a window, T + 1 tokens.
  WindowSampler(const TokenStore& store, std::vector<TokenRange> ranges, Index length, std::uint64_t seed,
                Index rank = 0, Index ranks = 1);

  /// Fills `count` windows: inputs and targets of count * length tokens each, one window after another.
  void next(Index count, std::span<Token> inputs, std::span<Token> targets, Watch* watch = nullptr);

  SamplerCursor cursor() const { return cursor_; }
  /// Goes on from there; throws StateError for a cursor that this text and length cannot have.
  void seek(SamplerCursor cursor);
  Index windows_per_epoch() const { return first_window_.back(); }  ///< of the present epoch
  /// First tokens of the windows last given out (tests, reports).
  std::span<const Index> last_starts() const { return last_starts_; }

 private:
  void begin_epoch();
  Index phase(const TokenRange& range) const;
  Index start_of(Index place) const;
  void advance();

  const TokenStore& store_;
  std::vector<TokenRange> ranges_;
  Index length_;
  RandomKey key_;
  Index rank_, ranks_;
  SamplerCursor cursor_;
  RandomKey epoch_key_;
  Index epoch_phase_ = 0;
  std::vector<Index> first_window_;  // windows before each range in this epoch, and their number at the end
  std::vector<Index> last_starts_;
};

}  // namespace tapeline
