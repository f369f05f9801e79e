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
};

}  // namespace tapeline
