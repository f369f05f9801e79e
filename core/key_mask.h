#pragma once

#include <algorithm>

#include "core/index.h"

namespace tapeline {

/// Which keys a query row sees, by row number counted from the aligned last rows. Distance d = query row -
/// key row.
struct KeyMask {
  bool causal = true;  ///< d >= 0 only
  Index window = 0;    ///< d < window only, the query itself counted; 0: all
  Index sinks = 0;     ///< the first key rows, seen in spite of the window

  /// How many keys row `row` of a sequence sees. `rows`: of the whole sequence, which counts without a causal
  /// mask only.
  Index keys_seen(Index row, Index rows) const {
    const Index begin = window == 0 ? 0 : std::max<Index>(row - window + 1, 0);
    return (causal ? row + 1 : rows) - begin + std::min(sinks, begin);
  }

  /// The distance of the farthest key that row `row` sees under a causal mask.
  Index farthest(Index row) const { return window == 0 || sinks > 0 ? row : std::min(row, window - 1); }

  /// The same mask with only the last `keys` keys in sight, the query itself counted. 0 limits nothing; a
  /// window that is narrower stays, and sinks stay seen.
  KeyMask limited_to(Index keys) const {
    if (keys == 0 || (window > 0 && window <= keys)) return *this;
    return {causal, keys, window > 0 ? sinks : 0};  // without a window sinks are keys like any other
  }
};

}  // namespace tapeline
