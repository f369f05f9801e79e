#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "core/index.h"

namespace tapeline {

/// The positions of the rows of one pass.
struct Positions {
  Index begin = 0;                               ///< number of the first row in its sequence, always
  Index count = 0;                               ///< how many rows
  std::array<std::span<const Index>, 3> axis{};  ///< empty: position = row number; two or three axes: grids

  /// The position of row `row` of this pass along `a`.
  Index at(Index row, std::size_t a = 0) const {
    return axis[a].empty() ? begin + row : axis[a][static_cast<std::size_t>(row)];
  }
};

/// The positions of the query rows and of all key rows (cached ones included); last rows aligned.
struct PassPositions {
  Positions query, key;
};

}  // namespace tapeline
