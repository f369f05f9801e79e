#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "train/config.h"

namespace tapeline {

/// How a value may be written, besides as the plain value of its type.
enum class Notation {
  plain,
  automatic,   ///< the text "auto" stands for 0
  length,      ///< a text that may be a number: 512 is "512"
  number_too,  ///< one of the choices, or a number, kept as its text
  all_too,     ///< of a list: "all" alone stands for every choice
  all_or_none  ///< of a list: the same, and "none" alone for the empty one
};

/// What numbers a key takes: a test and its description. For a list: each element.
struct Range {
  std::string expected;  ///< "at least 1"; empty: any finite number
  std::function<bool(double)> holds;
};

/// One row of the table of keys: everything there is to know of one.
struct ConfigKey {
  std::string name;  ///< "model.width"
  std::string help;
  OptionValue initial;               ///< in a config where nothing was said; its type is the key's type
  std::vector<std::string> choices;  ///< of a text, or of each text of a list; empty: any
  bool kinds = false;                ///< the choices are the encodings of this build
  Range range;
  Notation notation = Notation::plain;
  bool after_training = false;  ///< a trained model may be run with another value; see OptionField
  /// Of a key that may change after training: the choices that have weights of their own. To them and from
  /// them there is no way.
  std::vector<std::string> trained_choices = {};
  std::function<OptionValue(const Config&)> get;
  std::function<void(Config&, const OptionValue&)> set;  ///< takes a value of the type of `initial`
};

/// All keys in the order in which they are written, the options of the encodings of this build among them.
const std::vector<ConfigKey>& config_keys();
/// nullptr for a name that is no key.
const ConfigKey* find_config_key(std::string_view name);
/// Whether the key acts on a model of this [positional]: what wraps any encoding does, and the options of the
/// kinds in use. `name` is any key's.
bool acts_on_positions(const PositionalConfig& config, std::string_view name);
/// Whether some key begins with "name.".
bool is_config_section(std::string_view name);
/// The config in which nothing was said. In a build with fixed encodings all of these are compared.
const Config& default_config();

/// "a whole number", "true or false": what a key's value must be.
std::string describe_type(const ConfigKey& key);
/// The nearest name of the table to one that is none; empty when nothing is near.
std::string nearest_config_key(std::string_view name);

}  // namespace tapeline
