#include "experiments/inspect/stored_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "train/config_text.h"

namespace tapeline {
namespace {

nlohmann::ordered_json to_json(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* flag = node.as_boolean()) return flag->get();
  if (const auto* whole = node.as_integer()) return whole->get();
  if (const auto* number = node.as_floating_point()) return number->get();
  nlohmann::ordered_json json;
  if (const auto* list = node.as_array()) {
    json = nlohmann::ordered_json::array();
    for (const toml::node& element : *list) json.push_back(to_json(element));
  } else if (const auto* table = node.as_table()) {
    json = nlohmann::ordered_json::object();
    for (const auto& [key, value] : *table) json[std::string(key.str())] = to_json(value);
  }
  return json;
}

std::string to_text(const toml::node& node) {
  if (const auto* text = node.as_string()) return toml_string(text->get());
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  if (const auto* whole = node.as_integer()) return fmt::format("{}", whole->get());
  if (const auto* number = node.as_floating_point()) return number_text(number->get());
  std::vector<std::string> parts;
  if (const auto* list = node.as_array()) {
    for (const toml::node& element : *list) parts.push_back(to_text(element));
    return fmt::format("[{}]", fmt::join(parts, ", "));
  }
  if (const auto* table = node.as_table()) {
    for (const auto& [key, value] : *table)
      parts.push_back(fmt::format("{} = {}", key.str(), to_text(value)));
    return fmt::format("{{{}}}", fmt::join(parts, ", "));
  }
  return "?";
}

std::string to_plain_text(const toml::node& node) {
  return node.is_string() ? node.as_string()->get() : to_text(node);
}

struct Leaf {
  std::string name;
  const toml::node* node;
};

void collect(const toml::table& table, const std::string& prefix, std::vector<Leaf>& leaves) {
  for (const auto& [key, node] : table) {
    const std::string name =
        prefix.empty() ? std::string(key.str()) : fmt::format("{}.{}", prefix, key.str());
    const toml::table* inner = node.as_table();
    if (inner != nullptr && !inner->is_inline()) {
      collect(*inner, name, leaves);
    } else {
      leaves.push_back({name, &node});
    }
  }
}

/// In the order of the text: TOML's tables themselves keep that of the alphabet.
std::vector<Leaf> leaves_of(const toml::table& table) {
  std::vector<Leaf> leaves;
  collect(table, "", leaves);
  std::ranges::stable_sort(
      leaves, [](const Leaf& a, const Leaf& b) { return a.node->source().begin < b.node->source().begin; });
  return leaves;
}

toml::table parse(std::string_view text, const std::string& place) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    fail<FileError>("{}: line {}: {}", place, error.source().begin.line, error.description());
  }
}

}  // namespace

std::vector<StoredKey> read_stored_config(std::string_view values, std::string_view origins,
                                          const std::string& place) {
  const toml::table of_origins = parse(origins, place);
  std::map<std::string, std::string> origin_of;
  for (const Leaf& leaf : leaves_of(of_origins)) {
    origin_of[leaf.name] = to_plain_text(*leaf.node);
  }
  const toml::table of_values = parse(values, place);
  std::vector<StoredKey> keys;
  for (const Leaf& leaf : leaves_of(of_values)) {
    keys.push_back({.name = leaf.name,
                    .text = to_text(*leaf.node),
                    .plain = to_plain_text(*leaf.node),
                    .json = to_json(*leaf.node).dump(),
                    .origin = origin_of[leaf.name]});
  }
  return keys;
}

const StoredKey* find_stored(const std::vector<StoredKey>& keys, std::string_view name) {
  const auto found = std::ranges::find(keys, name, &StoredKey::name);
  return found == keys.end() ? nullptr : &*found;
}

}  // namespace tapeline
