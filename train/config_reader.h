#pragma once

#include <functional>
#include <string>

#include "train/config_loader.h"
#include "train/config_value.h"

namespace tapeline {

/// Puts values from TOML into a config, each under its key and with its origin.
class ConfigReader {
 public:
  /// The place of what begins at a line: "my.toml:12"; for a preset the same for every line.
  using PlaceOfLine = std::function<std::string(unsigned line)>;

  ConfigReader(ResolvedConfig& into, PlaceOfLine place, Strictness strictness = Strictness::file)
      : into_(into), place_(std::move(place)), strictness_(strictness) {}

  /// All of a table: sections, keys, variants. Throws ConfigError.
  void read(const toml::table& table);
  /// One key or section given as words.
  void read(const Assignment& assignment);

 private:
  using Leaf = std::function<void(const ConfigKey& key, const toml::node& value, const std::string& place)>;

  void visit_table(const toml::table& table, const std::string& prefix, const Leaf& leaf);
  void visit(const std::string& name, const toml::node& node, const std::string& place, const Leaf& leaf);
  std::vector<Variant> variants(const std::string& name, const toml::node& node, const std::string& place);
  Variant variant(const std::string& name, const toml::table& table, const std::string& place);
  void set(const ConfigKey& key, const toml::node& node, const std::string& place);

  ResolvedConfig& into_;
  PlaceOfLine place_;
  Strictness strictness_;
  std::string written_;  ///< the letters of the value, when it was given as words
};

/// toml::parse with errors as ConfigError: `my.toml:3:7: …`.
toml::table parse_toml(std::string_view text, const std::string& label);

}  // namespace tapeline
