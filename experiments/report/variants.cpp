#include "experiments/report/variants.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "experiments/compare/plan.h"
#include "train/config_loader.h"
#include "train/config_table.h"
#include "train/config_text.h"

namespace tapeline {
namespace {

/// A value as a reader says it: no quotes round a text, no ".0" behind a whole number, commas in a long one.
std::string spoken_value(const ConfigKey& key, const Config& config) {
  const OptionValue value = key.get(config);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  std::string text = value_text(key, value);
  if (text == "\"auto\"") return "auto";
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  Index number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() ? number_text(number) : text;
}

/// An option of an encoding that `config` does not use: positional.rope.base of an alibi model.
bool of_another_encoding(const std::string& name, const Config& config) {
  const std::string_view section = "positional.";
  if (!name.starts_with(section)) return false;
  const std::size_t dot = name.find('.', section.size());
  if (dot == std::string::npos) return false;
  const std::string kind = name.substr(section.size(), dot - section.size());
  const std::vector<std::string>& kinds = find_config_key("positional.kind")->choices;
  return !config.positional.uses(kind) && std::ranges::find(kinds, kind) != kinds.end();
}

std::vector<Config> trained_configs(const Config& config) {
  std::vector<Config> all;
  for (const Variant& variant : all_variants(config)) all.push_back(with_variant(config, variant));
  return all;
}

/// Keys that change no result beyond rounding: what a run saves, how it is computed.
bool without_effect(const std::string& name) {
  static const std::set<std::string> keys = {"train.seed",        "train.threads",
                                             "train.micro_batch", "train.checkpoint_every",
                                             "train.keep",        "train.evaluate_every"};
  return keys.contains(name);
}

/// The varying keys that are among `keys`, for a sentence: "model.layers and model.width"; empty: none.
std::string named_among(const std::vector<std::string>& varying, const std::set<std::string>& keys) {
  std::vector<std::string> named;
  for (const std::string& key : varying) {
    if (keys.contains(key)) named.push_back(key);
  }
  return joined(named);
}

/// The keys of an evaluation in the order of the key table.
std::vector<std::string> changed_keys(const Variant& evaluation) {
  std::vector<std::string> changed;
  for (const ConfigKey& key : config_keys()) {
    if (evaluation.changes.contains(key.name)) changed.push_back(key.name);
  }
  return changed;
}

}  // namespace

std::vector<std::string> varying_keys(const Config& config) {
  const std::vector<Config> variants = trained_configs(config);
  std::vector<std::string> varying;
  for (const ConfigKey& key : config_keys()) {
    if (key.name.starts_with("compare.") || without_effect(key.name)) continue;
    std::set<std::string> different;
    for (const Config& variant : variants) {
      if (!of_another_encoding(key.name, variant)) different.insert(spoken_value(key, variant));
    }
    if (different.size() > 1) varying.push_back(key.name);
  }
  return varying;
}

ReportTable variants_table(const Comparison& comparison) {
  const Config& config = comparison.config;
  const std::vector<Variant> variants = all_variants(config);
  const std::vector<std::string> varying = varying_keys(config);
  const std::vector<Variant>& evaluations = config.compare.evaluations;
  ReportTable table;
  table.title = "What the variants differ in";
  const bool named_by_kind =
      std::ranges::all_of(varying, [](const std::string& key) { return key == "positional.kind"; }) &&
      std::ranges::all_of(variants, [&](const Variant& variant) {
        return variant.name == with_variant(config, variant).positional.kind;
      });
  if (named_by_kind && evaluations.empty()) return table;

  // A column for each key that differs between variants, then one for each that only an evaluation changes;
  // where their names tell the variants apart, only these, and only the variants that they are of.
  std::vector<std::string> keys;
  if (!named_by_kind) keys = varying;
  for (const Variant& evaluation : evaluations) {
    for (const std::string& key : changed_keys(evaluation)) {
      if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
    }
  }
  if (named_by_kind) table.title = "What the evaluations change";
  table.header = {variant_word(config)};
  table.header.insert(table.header.end(), keys.begin(), keys.end());
  const auto row_of = [&](const std::string& name, const Config& resolved) {
    std::vector<std::string> row = {name};
    for (const std::string& key : keys) {
      row.push_back(of_another_encoding(key, resolved) ? "–" : spoken_value(*find_config_key(key), resolved));
    }
    return row;
  };
  for (const Variant& variant : variants) {
    const Config trained = with_variant(config, variant);
    std::vector<std::vector<std::string>> rows = {row_of(variant.name, trained)};
    for (const Variant& evaluation : evaluations) {
      const std::vector<std::string> of = evaluated_variants(config, variants, evaluation);
      if (std::ranges::find(of, variant.name) == of.end()) continue;
      rows.push_back(
          row_of(series_name(variant.name, evaluation.name), with_evaluation(trained, evaluation)));
    }
    if (rows.size() > 1 || !named_by_kind) table.rows.insert(table.rows.end(), rows.begin(), rows.end());
  }
  table.notes = {"All other settings are the same."};
  if (!evaluations.empty()) {
    table.notes.push_back(
        "A row with a comma was not trained itself: it is the model in front of the comma, evaluated under "
        "these settings.");
  }
  return table;
}

std::vector<std::string> positional_settings(const Config& config) {
  std::vector<std::string> all;
  if (!config.compare.variants.empty()) return all;
  for (const Config& trained : trained_configs(config)) {
    const std::string changes = positional_changes(trained);
    if (!changes.empty()) all.push_back(fmt::format("{}: {}", trained.positional.name(), changes));
  }
  return all;
}

std::string evaluations_text(const Config& config) {
  if (config.compare.evaluations.empty()) return {};
  const std::string_view section = "positional.";
  std::vector<std::string> all;
  for (const Variant& evaluation : config.compare.evaluations) {
    std::vector<std::string> changes;
    for (const std::string& key : changed_keys(evaluation))
      changes.push_back(fmt::format("{} = {}", key.substr(section.size()), evaluation.changes.at(key)));
    all.push_back(fmt::format("{}: {}", evaluation.name, fmt::join(changes, ", ")));
  }
  return fmt::format("Behind a comma, the same trained model evaluated under other settings: {}.",
                     fmt::join(all, "; "));
}

std::string pairing_text(const Config& config) {
  const std::vector<std::string> varying = varying_keys(config);
  const std::string weights = named_among(varying, {"model.layers", "model.width", "model.key_value_heads",
                                                    "model.feed_forward", "model.feed_forward_width"});
  const std::string batches = named_among(varying, {"train.length", "train.tokens_per_step"});
  const std::string steps = named_among(varying, {"train.steps"});
  std::string text = "Variants are compared seed by seed. ";
  text += weights.empty()
              ? "Those of one seed have the same initial weights in every parameter that they share."
              : fmt::format(
                    "They differ in {}: only those that agree in it have the same initial weights in "
                    "every parameter that they share.",
                    weights);
  if (!batches.empty()) {
    text += fmt::format(
        " They differ in {}: only those that agree in it saw the same batches in the same order.", batches);
  } else if (!steps.empty()) {
    text +=
        " They saw the same batches in the same order, those with fewer train.steps only the first of them.";
  } else {
    text += " They saw the same batches in the same order.";
  }
  return text;
}

std::string setting_values(const Config& config, std::string_view key) {
  std::vector<std::string> values;
  for (const Config& variant : trained_configs(config)) {
    const std::string value = spoken_value(*find_config_key(key), variant);
    if (std::ranges::find(values, value) == values.end()) values.push_back(value);
  }
  return joined(values, "or");
}

std::string variant_word(const Config& config) {
  return config.compare.variants.empty() ? "encoding" : "variant";
}

std::string spoken(const Series& series) {
  if (series.name != series.variant) return fmt::format("{} under {}", series.variant, series.evaluation);
  return series.name == "none" ? std::string("the model without positions (none)") : series.name;
}

}  // namespace tapeline
