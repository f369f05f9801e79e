#include "train/config_warnings.h"

#include <fmt/format.h>

#include <algorithm>

#include "train/config_derived.h"
#include "train/config_table.h"

namespace tapeline {

namespace {

double sinusoidal_base(const Config& config) {
  const ConfigKey* key = find_config_key("positional.sinusoidal.base");
  return key == nullptr ? 0 : std::get<double>(key->get(config));
}

}  // namespace

std::vector<std::string> positional_warnings(const Config& config) {
  std::vector<std::string> warnings;
  const PositionalConfig& positional = config.positional;
  const std::vector<Index> lengths = evaluation_lengths(config);
  const Index longest = std::max(std::ranges::max(lengths), config.train.length);
  const ScoreScaleConfig& score = positional.score;
  if (score.scale == "llama4" && static_cast<double>(longest) < score.floor_scale) {
    warnings.push_back(fmt::format(
        "positional.score.floor_scale is {} and the longest length {}: below floor_scale the llama4 "
        "scale is 1 and changes nothing; for a model trained at {} give about as much",
        score.floor_scale, longest, config.train.length));
  }
  if (positional.keys.sinks > 0 && positional.keys.window == 0) {
    warnings.push_back(
        fmt::format("positional.keys.sinks is {} and positional.keys.window 0: every query sees all keys, "
                    "the sinks change nothing; give a window",
                    positional.keys.sinks));
  }
  const Index maximum = positional.randomized.maximum;
  if (maximum == 0 && positional.randomized.evaluation != "arange") {
    warnings.push_back(
        fmt::format("positional.randomized.evaluation is \"{}\" and positional.randomized.maximum 0: nothing "
                    "is drawn",
                    positional.randomized.evaluation));
  }
  if (maximum == 0) return warnings;
  if (longest > maximum) {
    warnings.push_back(
        fmt::format("positional.randomized.maximum is {} and the longest length {}: lengths past the maximum "
                    "have positions that training never draws, and are refused",
                    maximum, longest));
  }
  if (positional.uses("sinusoidal") && static_cast<double>(maximum) > sinusoidal_base(config)) {
    warnings.push_back(fmt::format(
        "positional.randomized.maximum is {} and positional.sinusoidal.base {}: so far apart even the "
        "slowest sinusoids look alike again; give a larger base",
        maximum, sinusoidal_base(config)));
  }
  return warnings;
}

std::vector<std::string> keys_by_trained_length(const Config& config) {
  const PositionalConfig& positional = config.positional;
  std::vector<std::string> names;
  const auto text = [&](const ConfigKey& key) {
    const OptionValue value = key.get(config);
    return std::holds_alternative<std::string>(value) ? std::get<std::string>(value) : std::string();
  };
  const auto is_set = [&](std::string_view name, std::string_view nothing) {
    const ConfigKey* key = find_config_key(name);
    return key != nullptr && text(*key) != nothing;
  };
  for (const ConfigKey& key : config_keys()) {
    if (!key.name.starts_with("positional.") || !acts_on_positions(positional, key.name)) continue;
    if (key.name == "positional.learned.rows" && std::get<Index>(key.get(config)) == 0) {
      names.push_back(key.name);
      continue;
    }
    if (text(key) != "auto") continue;
    // Without a scaling, and without logn, these have nothing to say.
    if (key.name.starts_with("positional.rope.") && !is_set("positional.rope.scaling", "none")) continue;
    if (key.name == "positional.score.base_length" && positional.score.scale != "logn") continue;
    names.push_back(key.name);
  }
  return names;
}

}  // namespace tapeline
