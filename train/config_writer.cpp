#include <fmt/ranges.h>

#include <iterator>

#include "core/excerpt.h"
#include "train/config_loader.h"
#include "train/config_table.h"
#include "train/config_text.h"

namespace tapeline {
namespace {

std::string_view section_of(std::string_view key) { return key.substr(0, key.rfind('.')); }

/// The options of encodings that nobody asked for would only be noise: those of the kind in use are written,
/// and those that somebody set.
bool is_written(const ConfigKey& key, const Config& config) {
  const std::string_view prefix = "positional.";
  const std::string_view section = section_of(key.name);
  if (!section.starts_with(prefix) || acts_on_positions(config.positional, key.name)) return true;
  return config.positional.options.contains(std::string(section.substr(prefix.size())));
}

std::string variant_text(const Variant& variant, std::string_view section) {
  std::string text = fmt::format("\n[[{}]]\nname = {}\n", section, toml_string(variant.name));
  if (variant.of.size() == 1) {
    text += fmt::format("of = {}\n", toml_string(variant.of.front()));
  } else if (!variant.of.empty()) {
    std::vector<std::string> names;
    for (const std::string& name : variant.of) names.push_back(toml_string(name));
    text += fmt::format("of = [{}]\n", fmt::join(names, ", "));
  }
  for (const auto& [key, value] : variant.changes) text += fmt::format("{} = {}\n", key, value);
  return text;
}

std::string variants_text(const Config& config) {
  std::string text;
  for (const Variant& variant : config.compare.variants) text += variant_text(variant, "compare.variant");
  for (const Variant& variant : config.compare.evaluations)
    text += variant_text(variant, "compare.evaluation");
  return text;
}

/// `origins` may be null: no comments.
std::string config_text(const Config& config, const std::map<std::string, std::string>* origins) {
  std::string text;
  std::string_view section;
  for (const ConfigKey& key : config_keys()) {
    if (!is_written(key, config)) continue;
    if (section_of(key.name) != section) {
      section = section_of(key.name);
      text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", section);
    }
    const std::string line =
        fmt::format("{} = {}", key.name.substr(section.size() + 1), value_text(key, key.get(config)));
    if (origins == nullptr) {
      text += line + '\n';
    } else {
      const auto origin = origins->find(key.name);
      text += fmt::format("{:<44} # {}\n", line, origin == origins->end() ? "default" : origin->second);
    }
  }
  return text + variants_text(config);
}

}  // namespace

std::string resolved_text(const Config& config) { return config_text(config, nullptr); }

std::string annotated_text(const ResolvedConfig& resolved) {
  return config_text(resolved.config, &resolved.origins);
}

std::string origin_text(const ResolvedConfig& resolved) {
  std::string text;
  for (const ConfigKey& key : config_keys()) {
    const auto origin = resolved.origins.find(key.name);
    if (origin == resolved.origins.end() || !is_written(key, resolved.config)) continue;
    text += fmt::format("{} = {}\n", key.name, toml_string(origin->second));
  }
  for (const char* name : {"compare.variant", "compare.evaluation"}) {
    const auto origin = resolved.origins.find(name);
    if (origin != resolved.origins.end()) text += fmt::format("{} = {}\n", name, toml_string(origin->second));
  }
  return text;
}

std::string positional_changes(const Config& config) {
  const PositionalConfig& positional = config.positional;
  const std::string options = fmt::format("positional.{}.", positional.kind);
  const std::string_view all = "positional.";
  std::string text;
  for (const ConfigKey& key : config_keys()) {
    if (key.name == "positional.kind" || !acts_on_positions(positional, key.name)) continue;
    if (key.get(config) == key.initial) continue;
    // Of one kind alone the option needs no name of its section.
    const bool of_kind = positional.pattern.empty() && key.name.starts_with(options);
    text +=
        fmt::format("{}{} = {}", text.empty() ? "" : ", ",
                    key.name.substr(of_kind ? options.size() : all.size()), value_text(key, key.get(config)));
  }
  return text;
}

std::vector<ConfigDifference> config_difference(const Config& first, const Config& second) {
  std::vector<ConfigDifference> differences;
  for (const ConfigKey& key : config_keys()) {
    const std::string a = value_text(key, key.get(first)), b = value_text(key, key.get(second));
    if (a != b) differences.push_back({key.name, a, b});
  }
  const auto compare_variants = [&](const char* name, const std::vector<Variant>& a,
                                    const std::vector<Variant>& b) {
    const auto names = [](const std::vector<Variant>& variants) {
      std::vector<std::string> all;
      for (const Variant& variant : variants) all.push_back(variant.name);
      return fmt::format("[{}]", fmt::join(all, ", "));
    };
    const auto text = [](const std::vector<Variant>& variants) {
      std::string all;
      for (const Variant& variant : variants) all += variant_text(variant, "");
      return all;
    };
    if (text(a) != text(b)) differences.push_back({name, names(a), names(b)});
  };
  compare_variants("compare.variant", first.compare.variants, second.compare.variants);
  compare_variants("compare.evaluation", first.compare.evaluations, second.compare.evaluations);
  return differences;
}

std::vector<ConfigDifference> run_difference(const Config& first, const Config& second) {
  std::vector<ConfigDifference> differences = config_difference(first, second);
  std::erase_if(differences, [](const ConfigDifference& one) { return one.key == "train.threads"; });
  return differences;
}

std::string describe(const std::vector<ConfigDifference>& differences, std::string_view between) {
  std::vector<std::string> parts;
  for (const ConfigDifference& difference : differences) {
    parts.push_back(fmt::format("{} {}{}{}", difference.key, excerpt(difference.first), between,
                                excerpt(difference.second)));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace tapeline
