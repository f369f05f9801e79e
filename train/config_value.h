#pragma once

#include <toml++/toml.h>

#include <string>

#include "train/config_table.h"
#include "train/config_text.h"

namespace tapeline {

/// How a value came: a file is taken at its word, a command line or environment is helped.
enum class Strictness {
  file,
  /// 0 and 1 are booleans, words between commas a list, any value of a text key its own letters.
  words,
};

/// The value of `key` that `node` holds. `place` is where it stands, `written` its letters (for words).
/// Throws ConfigError that names key, place, what was found and what was expected.
OptionValue read_value(const ConfigKey& key, const toml::node& node, const std::string& place,
                       Strictness strictness = Strictness::file, std::string_view written = {});

/// The root table {"value": …} of a value given as words: TOML if it is any, else a bare string.
toml::table parse_words(std::string_view text);

/// `node` on one line, for errors: `"abc"`, `[1, 2]`, `a table`.
std::string describe_node(const toml::node& node);

}  // namespace tapeline
