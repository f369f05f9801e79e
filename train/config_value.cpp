#include "train/config_value.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "core/error.h"
#include "core/excerpt.h"
#include "layers/positional/kinds_of_build.h"
#include "train/nearest_name.h"

namespace tapeline {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// See Notation::all_too, all_or_none.
constexpr std::string_view every_choice = "all", no_choice = "none";

/// Reads one value of one key.
class Reader {
 public:
  Reader(const ConfigKey& key, const std::string& place, Strictness strictness)
      : key_(key), place_(place), words_(strictness == Strictness::words) {}

  OptionValue read(const toml::node& node, std::string_view written) const {
    return std::visit([&](const auto& initial) { return OptionValue(as(initial, node, written)); },
                      key_.initial);
  }

 private:
  bool as(bool, const toml::node& node, std::string_view) const {
    if (const auto value = node.value_exact<bool>()) return *value;
    const auto number = node.value_exact<std::int64_t>();
    if (words_ && number && (*number == 0 || *number == 1)) return *number == 1;
    refuse(node);
  }

  Index as(Index, const toml::node& node, std::string_view) const {
    if (const auto value = node.value_exact<std::int64_t>()) {
      check_range(static_cast<double>(*value), node);
      return *value;
    }
    if (key_.notation == Notation::automatic && node.value_exact<std::string>() == "auto") return 0;
    refuse(node);
  }

  double as(double, const toml::node& node, std::string_view) const {
    std::optional<double> value = node.value_exact<double>();
    if (const auto whole = node.value_exact<std::int64_t>()) value = static_cast<double>(*whole);
    if (!value || !std::isfinite(*value)) refuse(node);
    check_range(*value, node);
    return *value;
  }

  std::string as(const std::string&, const toml::node& node, std::string_view written) const {
    std::optional<std::string> value = node.value_exact<std::string>();
    const auto number = node.value_exact<std::int64_t>();
    if (!value && key_.notation == Notation::length && number) value = fmt::format("{}", *number);
    if (key_.notation == Notation::number_too && node.is_number()) return describe_node(node);
    if (!value && words_) value = std::string(written);
    if (!value) refuse(node);
    // What is not UTF-8 could not be read back from the resolved config.
    require<ConfigError>(
        !words_ || parse_words(toml_string(*value))["value"].value_exact<std::string>() == value,
        "{} ({}) holds letters that are no UTF-8; give a name that is", key_.name, place_);
    check_choice(*value);
    return *value;
  }

  template <class Element>
  std::vector<Element> as(const std::vector<Element>&, const toml::node& node,
                          std::string_view written) const {
    std::vector<Element> values = elements<Element>(node, written);
    if constexpr (std::same_as<Element, std::string>) {
      const auto whole =
          std::ranges::find_if(values, [this](const std::string& word) { return is_whole_list(word); });
      if (whole == values.end()) return values;
      require<ConfigError>(values.size() == 1, "{} ({}) is {}; \"{}\" stands alone, or give names", key_.name,
                           place_, excerpt(describe_node(node)), *whole);
      return *whole == every_choice ? key_.choices : std::vector<std::string>();
    }
    return values;
  }

  template <class Element>
  std::vector<Element> elements(const toml::node& node, std::string_view written) const {
    std::vector<Element> values;
    if (const toml::array* array = node.as_array()) {
      for (const toml::node& element : *array) {
        values.push_back(as(Element{}, element, words_ ? describe_node(element) : std::string()));
      }
      return values;
    }
    if (!words_) refuse(node);
    const auto text = node.value_exact<std::string>();
    if (text) written = *text;
    while (!trimmed(written).empty()) {
      const std::size_t comma = std::min(written.find(','), written.size());
      const std::string_view word = trimmed(written.substr(0, comma));
      const toml::table table = parse_words(word);
      values.push_back(as(Element{}, *table.get("value"), word));
      written.remove_prefix(std::min(comma + 1, written.size()));
    }
    return values;
  }

  void check_range(double value, const toml::node& node) const {
    require<ConfigError>(!key_.range.holds || key_.range.holds(value), "{} ({}) is {}; it must be {}",
                         key_.name, place_, excerpt(describe_node(node)), key_.range.expected);
  }

  /// Whether the word stands for a list, not for an element of one.
  bool is_whole_list(const std::string& word) const {
    if (word == every_choice)
      return key_.notation == Notation::all_too || key_.notation == Notation::all_or_none;
    return word == no_choice && key_.notation == Notation::all_or_none;
  }

  /// What may be written besides the choices.
  std::string other_words() const {
    switch (key_.notation) {
      case Notation::number_too:
        return ", or a number";
      case Notation::all_too:
        return ", or all";
      case Notation::all_or_none:
        return ", or all, or none";
      default:
        return "";
    }
  }

  void check_choice(const std::string& value) const {
    if (is_whole_list(value)) return;
    if (key_.choices.empty() || std::ranges::find(key_.choices, value) != key_.choices.end()) return;
    if (key_.notation == Notation::number_too && parse_words(value)["value"].is_number()) return;
    require<ConfigError>(!key_.kinds || !is_left_out(value), "{} ({}) is \"{}\", {}", key_.name, place_,
                         value, left_out_text());
    const std::string elsewhere = key_that_takes(value);
    fail<ConfigError>("{} ({}) is {}; it must be one of {}{}{}", key_.name, place_,
                      excerpt(toml_string(value)), fmt::join(key_.choices, ", "), other_words(),
                      elsewhere.empty() ? did_you_mean(nearest_name(value, key_.choices)) : elsewhere);
  }

  /// What goes around an encoding or scales it is often called one: for "yarn" as a kind, the key that has it
  /// among its choices.
  std::string key_that_takes(const std::string& value) const {
    if (!key_.kinds) return {};
    for (const ConfigKey& key : config_keys()) {
      if (key.name.starts_with("positional.") && std::ranges::find(key.choices, value) != key.choices.end())
        return fmt::format("; \"{}\" is a value of {}", value, key.name);
    }
    return {};
  }

  [[noreturn]] void refuse(const toml::node& node) const {
    fail<ConfigError>("{} ({}) is {}; it must be {}", key_.name, place_, excerpt(describe_node(node)),
                      describe_type(key_));
  }

  const ConfigKey& key_;
  const std::string& place_;
  bool words_;
};

}  // namespace

OptionValue read_value(const ConfigKey& key, const toml::node& node, const std::string& place,
                       Strictness strictness, std::string_view written) {
  return Reader(key, place, strictness).read(node, written);
}

toml::table parse_words(std::string_view text) {
  try {
    // A line break would let a value smuggle in further keys.
    if (text.find('\n') == std::string_view::npos) {
      toml::table table = toml::parse(fmt::format("value = {}", text));
      if (table.size() == 1 && table.contains("value")) return table;
    }
  } catch (const toml::parse_error&) {  // a bare string then
  }
  toml::table table;
  table.insert("value", std::string(text));
  return table;
}

std::string describe_node(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return toml_string(*text);
  if (const auto flag = node.value_exact<bool>()) return *flag ? "true" : "false";
  if (const auto whole = node.value_exact<std::int64_t>()) return fmt::format("{}", *whole);
  if (const auto number = node.value_exact<double>()) return number_text(*number);
  if (const toml::array* array = node.as_array()) {
    std::vector<std::string> elements;
    for (const toml::node& element : *array) elements.push_back(describe_node(element));
    return fmt::format("[{}]", fmt::join(elements, ", "));
  }
  return node.is_table() ? "a table" : "a date or time";
}

}  // namespace tapeline
