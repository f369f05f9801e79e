#pragma once

#include <string>
#include <string_view>

#include "train/config_table.h"

namespace tapeline {

/// The value as TOML that reads back to the same bits, in any locale.
std::string value_text(const ConfigKey& key, const OptionValue& value);
/// A text in the quotes of TOML.
std::string toml_string(std::string_view text);
/// The shortest text that reads back to the same double, and as a float: "1.0".
std::string number_text(double value);

}  // namespace tapeline
