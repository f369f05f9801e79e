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

ResolvedConfig with_variant(const ResolvedConfig& resolved, const Variant& variant) {
  ResolvedConfig changed = resolved;
  const std::string place = fmt::format("variant \"{}\"", excerpt(variant.name));
  for (const auto& [name, text] : variant.changes) {
    const ConfigKey* key = find_config_key(name);
    require<ConfigError>(key != nullptr, "unknown key \"{}\" ({})", excerpt(name), place);
    key->set(changed.config, read_value(*key, *parse_words(text).get("value"), place));
    changed.origins[name] = place;
  }
  validate_run(changed);
  return changed;
}

Config with_variant(const Config& config, const Variant& variant) {
  return with_variant(ResolvedConfig{.config = config, .origins = {}}, variant).config;
}

namespace {

bool can_change(const ConfigKey& key, const std::string& kind) {
  return key.after_training && (key.name.starts_with("positional.keys.") ||
                                key.name.starts_with(fmt::format("positional.{}.", kind)));
}

}  // namespace

void require_changeable(const Config& trained, const Config& changed, std::string_view place) {
  const std::string& kind = trained.positional.kind;
  for (const ConfigDifference& difference : config_difference(trained, changed)) {
    const ConfigKey* key = find_config_key(difference.key);
    if (key != nullptr && can_change(*key, kind)) continue;
    std::vector<std::string_view> changeable;
    for (const ConfigKey& candidate : config_keys()) {
      if (can_change(candidate, kind)) changeable.push_back(candidate.name);
    }
    fail<ConfigError>(
        "{} sets {} to {}, in the trained model it is {} and cannot change any more; of a model with {} "
        "positions these can: {}",
        place, difference.key, excerpt(difference.second), excerpt(difference.first), kind,
        fmt::join(changeable, ", "));
  }
}

}  // namespace tapeline
