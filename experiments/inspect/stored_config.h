#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tapeline {

/// One key of a configuration that stands in a file, known to this program or not.
struct StoredKey {
  std::string name;    ///< "model.width"
  std::string text;    ///< the value as TOML
  std::string plain;   ///< the same, a string without its quotes
  std::string json;    ///< the same as JSON
  std::string origin;  ///< "default", "preset toy", "--set"; empty: not stored
};

/// The keys of two texts as a checkpoint holds them, values and origins, in the order of the first. Unlike
/// parse_resolved() it believes whatever is there: a file of a later version has keys of its own. Throws
/// FileError, naming `place`, for text that is no TOML.
std::vector<StoredKey> read_stored_config(std::string_view values, std::string_view origins,
                                          const std::string& place);

/// The key of that name; nullptr when there is none.
const StoredKey* find_stored(const std::vector<StoredKey>& keys, std::string_view name);

}  // namespace tapeline
