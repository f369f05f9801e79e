#include "core/error.h"
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
  const std::string place = fmt::format("variant \"{}\"", variant.name);
  for (const auto& [name, text] : variant.changes) {
    const ConfigKey* key = find_config_key(name);
    require<ConfigError>(key != nullptr, "unknown key \"{}\" ({})", name, place);
    key->set(changed.config, read_value(*key, *parse_words(text).get("value"), place));
    changed.origins[name] = place;
  }
  validate_run(changed);
  return changed;
}

Config with_variant(const Config& config, const Variant& variant) {
  return with_variant(ResolvedConfig{.config = config, .origins = {}}, variant).config;
}

}  // namespace tapeline
