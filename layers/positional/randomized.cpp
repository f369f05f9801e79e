#include "layers/positional/randomized.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "core/error.h"

namespace tapeline {

// Floyd's sampling (Bentley, Floyd 1987): for last = maximum - count .. maximum - 1 a number of [0, last] is
// drawn, and `last` itself taken where that one is taken already. A bit for every number remembers them, and
// gives them back in order.
std::span<Index> draw_positions(Arena& arena, RandomKey key, Index count, Index maximum) {
  require<ShapeError>(count >= 0 && count <= maximum,
                      "randomized positions: {} rows and positional.randomized.maximum {}; each row needs a "
                      "position of its own",
                      count, maximum);
  const auto size = static_cast<std::size_t>(count);
  const std::span<Index> drawn(arena.allocate_array<Index>(size), size);
  const ArenaScope scratch(arena);
  const auto words = static_cast<std::size_t>(maximum / 64 + 1);
  const std::span<std::uint64_t> taken(arena.allocate_array<std::uint64_t>(words), words);
  std::ranges::fill(taken, std::uint64_t{0});
  const auto bit = [](Index number) { return std::uint64_t{1} << (number % 64); };
  for (Index last = maximum - count; last < maximum; ++last) {
    const auto draw = static_cast<std::uint64_t>(last - (maximum - count));
    Index number = static_cast<Index>(random_below(key, draw, static_cast<std::uint64_t>(last + 1)));
    if ((taken[static_cast<std::size_t>(number / 64)] & bit(number)) != 0) number = last;
    taken[static_cast<std::size_t>(number / 64)] |= bit(number);
  }
  auto place = drawn.begin();
  for (std::size_t word = 0; word < words; ++word) {
    for (std::uint64_t left = taken[word]; left != 0; left &= left - 1) {
      *place++ = static_cast<Index>(64 * word) + std::countr_zero(left);
    }
  }
  return drawn;
}

}  // namespace tapeline
