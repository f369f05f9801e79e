#pragma once

#include <span>
#include <string_view>

#include "core/index.h"

namespace tapeline {

/// A named set of values, weaker than a config file.
struct Preset {
  std::string_view name;
  std::string_view aim;  ///< one line
  /// Below so many steps its models have hardly learnt more than which byte follows which, and encodings do
  /// not differ yet: what compare --budget does not go below without a warning.
  Index fewest_steps;
  std::string_view text;  ///< TOML, variants and evaluations of a comparison among it
};

inline constexpr std::string_view default_preset = "toy";

std::span<const Preset> presets();
/// Throws ConfigError that names the nearest preset.
const Preset& preset(std::string_view name);

}  // namespace tapeline
