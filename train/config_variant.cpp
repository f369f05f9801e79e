#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "core/error.h"
#include "core/excerpt.h"
#include "train/config_loader.h"
#include "train/config_table.h"
#include "train/config_validation.h"
#include "train/config_value.h"
#include "train/nearest_name.h"

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

/// `origin`: where the value of a key is said to come from.
ResolvedConfig with_changes(const ResolvedConfig& resolved, const Variant& variant, const std::string& place,
                            const std::function<std::string(const std::string& key)>& origin) {
  ResolvedConfig changed = resolved;
  for (const auto& [name, text] : variant.changes) {
    const ConfigKey* key = find_config_key(name);
    require<ConfigError>(key != nullptr, "unknown key \"{}\" ({})", excerpt(name), origin(name));
    key->set(changed.config, read_value(*key, *parse_words(text).get("value"), origin(name)));
    changed.origins[name] = origin(name);
  }
  settle_kinds(changed, variant, place);
  validate_run(changed);
  return changed;
}

}  // namespace

std::string called(std::string_view what, const Variant& variant) {
  return fmt::format("{} \"{}\"{}", what, excerpt(variant.name),
                     variant.place.empty() ? std::string() : fmt::format(" ({})", variant.place));
}

ResolvedConfig with_variant(const ResolvedConfig& resolved, const Variant& variant) {
  const std::string place = fmt::format("variant \"{}\"", excerpt(variant.name));
  return with_changes(resolved, variant, place, [&](const std::string&) { return place; });
}

Config with_variant(const Config& config, const Variant& variant) {
  return with_variant(ResolvedConfig{.config = config, .origins = {}}, variant).config;
}

std::vector<std::string> evaluated_variants(const Config& config, const std::vector<Variant>& variants,
                                            const Variant& evaluation) {
  const std::string who = called("evaluation", evaluation);
  std::vector<std::string> names;
  for (const Variant& variant : variants) names.push_back(variant.name);
  for (auto name = evaluation.of.begin(); name != evaluation.of.end(); ++name) {
    require<ConfigError>(std::ranges::find(names, *name) != names.end(),
                         "{} is of \"{}\"; there is no variant of that name to train{}", who, excerpt(*name),
                         did_you_mean(nearest_name(*name, names)));
    require<ConfigError>(std::find(evaluation.of.begin(), name, *name) == name, "{} is of \"{}\" twice", who,
                         *name);
  }
  std::vector<std::string> chosen;
  for (const Variant& variant : variants) {
    if (evaluation.of.empty()) {
      const PositionalConfig positional = with_variant(config, variant).positional;
      const bool has_all = std::ranges::all_of(evaluation.changes, [&](const auto& change) {
        return acts_on_positions(positional, change.first);
      });
      if (has_all) chosen.push_back(variant.name);
    } else if (std::ranges::find(evaluation.of, variant.name) != evaluation.of.end()) {
      chosen.push_back(variant.name);
    }
  }
  if (!chosen.empty()) return chosen;
  std::vector<std::string> keys;
  for (const auto& [key, value] : evaluation.changes) keys.push_back(key);
  fail<ConfigError>("{} is of no variant: none of {} has {}", who,
                    excerpt(fmt::format("{}", fmt::join(names, ", "))), fmt::join(keys, " and "));
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

/// Why a model trained with one value of a key cannot have the other; empty: it can.
std::string refused_change(const PositionalConfig& trained, const ConfigDifference& difference) {
  const ConfigKey* key = find_config_key(difference.key);
  const std::string change = fmt::format("sets {} to {}, in the trained model it is {}", difference.key,
                                         excerpt(difference.second), excerpt(difference.first));
  if (key != nullptr && can_change(*key, trained)) {
    const std::string_view choice = trained_choice(*key, difference);
    return choice.empty()
               ? std::string()
               : fmt::format("{}; \"{}\" has weights of its own: a model is trained with it or never has it",
                             change, choice);
  }
  std::vector<std::string_view> changeable;
  for (const ConfigKey& candidate : config_keys()) {
    if (can_change(candidate, trained)) changeable.push_back(candidate.name);
  }
  const bool positional = difference.key.starts_with("positional.");
  if (positional && !acts_on_positions(trained, difference.key)) {
    return fmt::format("sets {}, and the model was trained with {} positions, which have no such key",
                       difference.key, trained.name());
  }
  if (!positional)
    return change + " and cannot change any more; of a trained model only positional settings can";
  // Its neighbours in the same table; where none can, all that can are too many for a line.
  const std::string table = difference.key.substr(0, difference.key.rfind('.') + 1);
  std::vector<std::string_view> neighbours;
  for (const std::string_view name : changeable) {
    if (table != "positional." && name.starts_with(table)) neighbours.push_back(name.substr(table.size()));
  }
  const std::string others = neighbours.empty()
                                 ? std::string("man tapeline-config tells what can")
                                 : fmt::format("of {} these can: {}", table.substr(0, table.size() - 1),
                                               fmt::join(neighbours, ", "));
  return fmt::format("{} and cannot change any more: the weights were trained with it; {}", change, others);
}

}  // namespace

void require_changeable(const Config& trained, const Config& changed, std::string_view place) {
  for (const ConfigDifference& difference : config_difference(trained, changed)) {
    const std::string refused = refused_change(trained.positional, difference);
    require<ConfigError>(refused.empty(), "{} {}", place, refused);
  }
}

Config with_evaluation(const Config& trained, const Variant& evaluation) {
  const std::string who = fmt::format("evaluation \"{}\"", excerpt(evaluation.name));
  const auto place = [&](const std::string& key) {
    const auto found = evaluation.places.find(key);
    return found == evaluation.places.end() ? evaluation.place : found->second;
  };
  const auto origin = [&](const std::string& key) {
    return place(key).empty() ? who : fmt::format("{}, {}", who, place(key));
  };
  const ResolvedConfig as_trained{.config = trained, .origins = {}};
  const Config changed = with_changes(as_trained, evaluation, who, origin).config;
  for (const ConfigDifference& difference : config_difference(trained, changed)) {
    const std::string refused = refused_change(trained.positional, difference);
    require<ConfigError>(
        refused.empty(), "{} {}",
        place(difference.key).empty() ? who : fmt::format("{} ({})", who, place(difference.key)), refused);
  }
  return changed;
}

}  // namespace tapeline
