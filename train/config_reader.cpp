#include "train/config_reader.h"

#include <algorithm>

#include "core/error.h"
#include "core/excerpt.h"
#include "layers/positional/kinds_of_build.h"
#include "train/nearest_name.h"

namespace tapeline {
namespace {

constexpr std::string_view variant_key = "compare.variant";
constexpr std::string_view evaluation_key = "compare.evaluation";

/// `of`: the name of a variant, or a list of names.
std::vector<std::string> names(const std::string& section, const toml::node& node, const std::string& place) {
  std::vector<std::string> read;
  const auto add = [&](const toml::node& one) {
    const auto name = one.value_exact<std::string>();
    if (name && !name->empty()) read.push_back(*name);
    return name && !name->empty();
  };
  const toml::array* list = node.as_array();
  const bool right =
      list == nullptr ? add(node) : !list->empty() && std::all_of(list->begin(), list->end(), add);
  require<ConfigError>(right,
                       "{}: of ({}) is {}; it must be the name of a variant or a list of names; left out: "
                       "every variant that has the keys",
                       section, place, excerpt(describe_node(node)));
  return read;
}

/// The encoding that the name of a key, or of its section, belongs to; empty: none.
std::string_view kind_of(std::string_view name) {
  constexpr std::string_view section = "positional.";
  if (!name.starts_with(section)) return {};
  name.remove_prefix(section.size());
  return name.substr(0, name.find('.'));
}

[[noreturn]] void unknown_key(const std::string& name, const std::string& place) {
  const std::string_view kind = kind_of(name);
  require<ConfigError>(!is_left_out(kind), "{} ({}) is of \"{}\", {}", excerpt(name), place, kind,
                       left_out_text());
  const std::string nearest = nearest_config_key(name);
  const std::string_view environment = "environment ";
  if (!nearest.empty() && place.starts_with(environment)) {
    std::string variable = "TAPELINE_";
    for (const char c : nearest)
      variable += c == '.' ? "__" : std::string(1, static_cast<char>(std::toupper(c)));
    fail<ConfigError>("unknown key \"{}\" ({}){}", excerpt(name), place, did_you_mean(variable));
  }
  fail<ConfigError>("unknown key \"{}\" ({}){}", excerpt(name), place, did_you_mean(nearest));
}

}  // namespace

void ConfigReader::read(const toml::table& table) {
  visit_table(table, "", [this](const ConfigKey& key, const toml::node& node, const std::string& place) {
    set(key, node, place);
  });
}

void ConfigReader::read(const Assignment& assignment) {
  const toml::table table = parse_words(assignment.value);
  written_ = assignment.value;
  visit(assignment.key, *table.get("value"), assignment.origin,
        [this](const ConfigKey& key, const toml::node& node, const std::string& place) {
          set(key, node, place);
        });
}

void ConfigReader::set(const ConfigKey& key, const toml::node& node, const std::string& place) {
  // Within an inline table the letters of the whole are not those of the value.
  const std::string written = node.is_string() || written_.starts_with('{') ? describe_node(node) : written_;
  key.set(into_.config, read_value(key, node, place, strictness_, written));
  into_.origins[key.name] = place;
}

void ConfigReader::visit_table(const toml::table& table, const std::string& prefix, const Leaf& leaf) {
  for (auto&& [key, node] : table) {
    const std::string name =
        prefix.empty() ? std::string(key.str()) : fmt::format("{}.{}", prefix, key.str());
    visit(name, node, place_(key.source().begin.line), leaf);
  }
}

void ConfigReader::visit(const std::string& name, const toml::node& node, const std::string& place,
                         const Leaf& leaf) {
  if (name == variant_key || name == evaluation_key) {
    (name == variant_key ? into_.config.compare.variants : into_.config.compare.evaluations) =
        variants(name, node, place);
    into_.origins[name] = place;
  } else if (const ConfigKey* key = find_config_key(name)) {
    leaf(*key, node, place);
  } else if (is_config_section(name)) {
    require<ConfigError>(node.is_table(), "{} ({}) is {}; it is a section: give its keys, [{}]", name, place,
                         excerpt(describe_node(node)), name);
    visit_table(*node.as_table(), name, leaf);
  } else {
    unknown_key(name, place);
  }
}

std::vector<Variant> ConfigReader::variants(const std::string& name, const toml::node& node,
                                            const std::string& place) {
  const toml::array* array = node.as_array();
  require<ConfigError>(array != nullptr, "{} ({}) is {}; it must be a list of tables, [[{}]]", name, place,
                       excerpt(describe_node(node)), name);
  std::vector<Variant> read;
  for (const toml::node& element : *array) {
    const std::string element_place = place_(element.source().begin.line);
    require<ConfigError>(element.is_table(), "{} ({}) holds {}; each must be a table with a name", name,
                         element_place, excerpt(describe_node(element)));
    read.push_back(variant(name, *element.as_table(), element_place));
  }
  return read;
}

Variant ConfigReader::variant(const std::string& name, const toml::table& table, const std::string& place) {
  Variant read;
  const bool evaluation = name == evaluation_key;
  const auto text = [&](const char* field) {
    const auto value = table[field].value_exact<std::string>();
    require<ConfigError>(value && !value->empty(), "{} ({}) has no text \"{}\"", name, place, field);
    return *value;
  };
  read.name = text("name");
  read.place = place;
  if (const toml::node* of = table.get("of"); evaluation && of != nullptr)
    read.of = names(name, *of, place_(of->source().begin.line));
  const Leaf leaf = [&](const ConfigKey& key, const toml::node& node, const std::string& key_place) {
    require<ConfigError>(!key.name.starts_with("compare."),
                         "{} \"{}\" ({}) sets {}; a variant changes one model, not the comparison", name,
                         excerpt(read.name), key_place, key.name);
    require<ConfigError>(
        !evaluation || key.name.starts_with("positional."),
        "{} \"{}\" ({}) sets {}; a trained model is evaluated with other keys of [positional] "
        "only",
        name, excerpt(read.name), key_place, key.name);
    read.changes[key.name] = value_text(key, read_value(key, node, key_place));
    read.places[key.name] = key_place;
  };
  for (auto&& [key, node] : table) {
    const std::string key_name(key.str());
    if (key_name == "name" || (evaluation && key_name == "of")) continue;
    visit(key_name, node, place_(key.source().begin.line), leaf);
  }
  return read;
}

namespace {

/// The parser calls itself for every level of nesting, dotted keys included: a text that nests without end
/// would end in a stack overflow.
void require_shallow(std::string_view text, const std::string& label) {
  constexpr std::ptrdiff_t most = 1000;
  Index number = 1;
  for (std::size_t begin = 0; begin < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    const auto levels = std::ranges::count_if(line, [](char c) { return c == '.' || c == '[' || c == '{'; });
    require<ConfigError>(levels <= most,
                         "{}:{}: a line with {} dots and brackets; no configuration nests that deep", label,
                         number, levels);
    begin = end + 1;
  }
}

}  // namespace

toml::table parse_toml(std::string_view text, const std::string& label) {
  require_shallow(text, label);
  try {
    return toml::parse(text, std::string_view(label));
  } catch (const toml::parse_error& error) {
    const std::string_view hint = label.ends_with(".txt") ? "; a text to work on is given with --text" : "";
    fail<ConfigError>("{}:{}:{}: no TOML: {}{}", label, error.source().begin.line,
                      error.source().begin.column, excerpt(error.description(), 200), hint);
  }
}

}  // namespace tapeline
