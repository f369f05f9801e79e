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
  const Index maximum = positional.randomized.maximum;
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

}  // namespace tapeline
