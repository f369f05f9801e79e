#pragma once

#include <algorithm>
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

/// The lowest and the highest position of rows, and whether their positions never fall from row to row.
struct PositionRange {
  Index lowest = 0, highest = 0;
  bool ascending = true;
};
/// Of one row at least.
inline PositionRange range_of(const Positions& rows) {
  if (rows.axis[0].empty()) return {rows.begin, rows.begin + rows.count - 1, true};
  const auto [lowest, highest] = std::ranges::minmax(rows.axis[0]);
  return {lowest, highest, std::ranges::is_sorted(rows.axis[0])};
}

/// The positions of the query rows and of all key rows (cached ones included); last rows aligned.
struct PassPositions {
  Positions query, key;
};

}  // namespace tapeline
