#include <fmt/ranges.h>

#include "core/error.h"
#include "core/excerpt.h"
#include "train/config_loader.h"
#include "train/config_table.h"
#include "train/config_validation.h"
#include "train/config_value.h"

namespace tapeline {

std::vector<Variant> all_variants(const Config& config) {
  std::vector<Variant> variants;
  for (const std::string& encoding : config.compare.encodings) {
    variants.push_back({.name = encoding, .of = {}, .changes = {{"positional.kind", toml_string(encoding)}}});
  }
  variants.insert(variants.end(), config.compare.variants.begin(), config.compare.variants.end());
  return variants;
}

namespace {

/// A variant that names a kind and no pattern has that kind in every layer; one that names a pattern and no
/// kind has its first.
void settle_kinds(ResolvedConfig& changed, const Variant& variant, const std::string& place) {
  PositionalConfig& positional = changed.config.positional;
  const bool names_kind = variant.changes.contains("positional.kind");
  const bool names_pattern = variant.changes.contains("positional.layers.pattern");
  if (names_kind && !names_pattern && !positional.pattern.empty()) {
    positional.pattern.clear();
    changed.origins["positional.layers.pattern"] = place;
  }
  if (names_pattern && !names_kind && !positional.uses(positional.kind)) {
    positional.kind = positional.pattern.front();
    changed.origins["positional.kind"] = place;
  }
}

}  // namespace

ResolvedConfig with_variant(const ResolvedConfig& resolved, const Variant& variant) {
  ResolvedConfig changed = resolved;
  const std::string place = fmt::format("variant \"{}\"", excerpt(variant.name));
  for (const auto& [name, text] : variant.changes) {
    const ConfigKey* key = find_config_key(name);
    require<ConfigError>(key != nullptr, "unknown key \"{}\" ({})", excerpt(name), place);
    key->set(changed.config, read_value(*key, *parse_words(text).get("value"), place));
    changed.origins[name] = place;
  }
  settle_kinds(changed, variant, place);
  validate_run(changed);
  return changed;
}

Config with_variant(const Config& config, const Variant& variant) {
  return with_variant(ResolvedConfig{.config = config, .origins = {}}, variant).config;
}

namespace {

bool can_change(const ConfigKey& key, const PositionalConfig& trained) {
  return key.after_training && acts_on_positions(trained, key.name);
}

/// Of a key that can change: the choice that cannot come or go, because it has weights; empty: none.
std::string_view trained_choice(const ConfigKey& key, const ConfigDifference& difference) {
  for (const std::string& choice : key.trained_choices) {
    const std::string text = toml_string(choice);
    if (difference.first == text || difference.second == text) return choice;
  }
  return {};
}

}  // namespace

void require_changeable(const Config& trained, const Config& changed, std::string_view place) {
  for (const ConfigDifference& difference : config_difference(trained, changed)) {
    const ConfigKey* key = find_config_key(difference.key);
    if (key != nullptr && can_change(*key, trained.positional)) {
      const std::string_view choice = trained_choice(*key, difference);
      require<ConfigError>(
          choice.empty(),
          "{} sets {} to {}, in the trained model it is {}; \"{}\" has weights of its own: a "
          "model is trained with it or never has it",
          place, difference.key, excerpt(difference.second), excerpt(difference.first), choice);
      continue;
    }
    std::vector<std::string_view> changeable;
    for (const ConfigKey& candidate : config_keys()) {
      if (can_change(candidate, trained.positional)) changeable.push_back(candidate.name);
    }
    fail<ConfigError>(
        "{} sets {} to {}, in the trained model it is {} and cannot change any more: the weights were "
        "trained with it; of a model with {} positions these can: {}",
        place, difference.key, excerpt(difference.second), excerpt(difference.first),
        trained.positional.name(), fmt::join(changeable, ", "));
  }
}

}  // namespace tapeline
