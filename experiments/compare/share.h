#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/index.h"
#include "experiments/compare/plan.h"

namespace tapeline {

/// Which part of a comparison a process does: share `number`, counted from 1, of `of` (`--cells 2/3`).
struct Share {
  Index number = 1, of = 1;

  bool whole() const { return of == 1; }
  std::string text() const;  ///< "2/3"
  bool operator==(const Share&) const = default;
};

/// The cells of one share, in their order; `costs`: of each cell, in any unit. Shares are of about equal
/// cost. Whole seeds go to one share where that is as well balanced, so that a share alone holds comparisons
/// in pairs; with a sweep whole variants do, since all seeds of a variant wait for its rate. Whatever the
/// machine, the same cells belong to the same share. Throws ConfigError when there are fewer pieces than
/// shares.
std::vector<Cell> cells_of_share(const std::vector<Cell>& cells, const std::vector<double>& costs,
                                 const Share& share);

/// Reads "2/3". Throws ConfigError naming `flag` for anything else.
Share parse_share(std::string_view text, std::string_view flag);

}  // namespace tapeline
