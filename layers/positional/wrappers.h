#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace tapeline {

/// What wraps any encoding, for a reader: as a row of the registry, with the keys that set it.
struct WrapperKind {
  std::string_view name;
  std::string_view title;
  std::string_view formula;
  std::string_view acts_on;
  std::string_view parameters;
  std::string_view beyond;  ///< what happens past the trained length
  std::string_view paper;
  std::vector<std::string_view> keys;
};

/// Score scales, window, sinks, randomized positions, kinds by layer.
std::span<const WrapperKind> wrapper_kinds();

}  // namespace tapeline
