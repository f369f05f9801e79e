#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>

#include "layers/positional/rope.h"
#include "layers/positional/rope_scaling_options.h"

/// Scalings of rope by their options.
namespace tapeline::inline TAPELINE_PRECISION {

using RopeOptions = std::map<std::string, OptionValue>;

inline RopeScaling scaling_of(const RopeOptions& options, Index train_length, Index pairs) {
  OptionValues values(rope_kind().options);
  for (const auto& [name, value] : options) {
    const auto field = std::ranges::find(rope_kind().options, name, &OptionField::name);
    REQUIRE(field != rope_kind().options.end());
    values.set(name, checked_option(*field, value, name));
  }
  return read_rope_scaling(values, train_length, pairs);
}

}  // namespace tapeline::inline TAPELINE_PRECISION
