#pragma once

#include "core/index.h"

namespace tapeline {

/// Which keys a query row sees, by row number counted from the aligned last rows. Distance d = query row -
/// key row.
struct KeyMask {
  bool causal = true;  ///< d >= 0 only
  Index window = 0;    ///< d < window only, the query itself counted; 0: all
  Index sinks = 0;     ///< the first key rows, seen in spite of the window
};

}  // namespace tapeline
