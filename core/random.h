#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/index.h"

namespace tapeline {

/// The key of one stream of random numbers. Numbers are a pure function of (key, counter): Philox 4x32-10
/// (Salmon, Moraes, Dror, Shaw 2011, "Parallel Random Numbers: As Easy as 1, 2, 3"), so they do not depend on
/// threads, on the order of calls, or on what else was drawn.
struct RandomKey {
  std::uint64_t value = 0;

  /// The key of a stream inside this one, by number: a step, a layer, an epoch.
  RandomKey child(std::uint64_t number) const;
  /// The key of a stream inside this one, by name.
  RandomKey child(std::string_view name) const;
};

/// The key of the stream `name` of the run seeded with `seed` (FNV-1a over both; seed 0 is a seed like any
/// other).
RandomKey random_key(std::uint64_t seed, std::string_view name);

/// The 128 random bits that belong to `counter` and `lane` under `key`.
std::array<std::uint32_t, 4> random_block(RandomKey key, std::uint64_t counter, std::uint64_t lane = 0);

/// The blocks of `counter`, `counter` + 1, ... one after another: 4 * `count` words of `out`, in vectors.
void random_blocks(RandomKey key, std::uint64_t counter, std::uint64_t lane, std::size_t count,
                   std::uint32_t* out);

/// Uniform in [0, 1): never 1. Number `index` of the stream.
double random_uniform(RandomKey key, std::uint64_t index);

/// Standard normal (Box-Muller). Number `index` of the stream.
double random_normal(RandomKey key, std::uint64_t index);

/// Uniform in {0, ..., bound-1} without bias. Number `index` of the stream; bound >= 1.
std::uint64_t random_below(RandomKey key, std::uint64_t index, std::uint64_t bound);

/// A permutation of {0, ..., count-1}, evaluated at one place in constant memory (a keyed Feistel network
/// with cycle walking), so that an epoch's order needs no table and can be resumed anywhere.
Index random_permutation(RandomKey key, Index place, Index count);

}  // namespace tapeline
