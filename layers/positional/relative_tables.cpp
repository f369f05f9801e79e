#include "layers/positional/relative_tables.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace tapeline::inline TAPELINE_PRECISION {

Distances table_distances(const Pass& pass, const PassPositions& all, bool causal) {
  const Distances met = distances_of(all, causal);
  Index back = std::max<Index>(met.last(), 0), ahead = std::max<Index>(-met.first, 0);
  if (!pass.tape.recording()) {
    const auto rounded = [](Index distance) {
      return static_cast<Index>(std::bit_ceil(static_cast<std::uint64_t>(distance) + 1)) - 1;
    };
    back = rounded(back), ahead = rounded(ahead);
  }
  return {.first = -ahead, .count = ahead + back + 1};
}

}  // namespace tapeline::inline TAPELINE_PRECISION
