#pragma once

#include <string>
#include <string_view>

#include "train/config_table.h"

namespace tapeline {

/// The value as TOML that reads back to the same bits, in any locale.
std::string value_text(const ConfigKey& key, const OptionValue& value);
/// What is set otherwise than by default among the options of the kinds in use and what wraps them:
/// "keys.window = 64, beyond = \"clamp\"". Empty: nothing.
std::string positional_changes(const Config& config);
/// A text in the quotes of TOML.
std::string toml_string(std::string_view text);
/// The shortest text that reads back to the same double, and as a float: "1.0".
std::string number_text(double value);

}  // namespace tapeline
