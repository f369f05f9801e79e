#pragma once

#include <span>
#include <string_view>

namespace tapeline {

/// A named set of values, weaker than a config file.
struct Preset {
  std::string_view name;
  std::string_view aim;   ///< one line
  std::string_view text;  ///< TOML
};

inline constexpr std::string_view default_preset = "toy";

std::span<const Preset> presets();
/// Throws ConfigError that names the nearest preset.
const Preset& preset(std::string_view name);

}  // namespace tapeline
