#pragma once

#include <string>
#include <string_view>

#include "core/index.h"

namespace tapeline {

/// Which part of a comparison a process does: share `number`, counted from 1, of `of` (`--cells 2/3`).
struct Share {
  Index number = 1, of = 1;

  bool whole() const { return of == 1; }
  std::string text() const;  ///< "2/3"
  bool operator==(const Share&) const = default;
};

/// Reads "2/3". Throws ConfigError naming `flag` for anything else.
Share parse_share(std::string_view text, std::string_view flag);

}  // namespace tapeline
