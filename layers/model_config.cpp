#include "layers/model_config.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace tapeline {

namespace {

void require_positive(std::string_view key, Index value) {
  require<ConfigError>(value >= 1, "model.{} = {}; it must be at least 1", key, value);
}

}  // namespace

void validate(const ModelConfig& config) {
  require_positive("layers", config.layers);
  require<ConfigError>(config.layers <= 4096, "model.layers = {}; at most 4096", config.layers);
  require_positive("width", config.width);
  require_positive("heads", config.heads);
  require<ConfigError>(config.width % config.heads == 0,
                       "model.width = {} and model.heads = {}; the width must be a multiple of the heads",
                       config.width, config.heads);
  const Index key_value_heads = config.resolved_key_value_heads();
  require<ConfigError>(
      key_value_heads >= 1 && config.heads % key_value_heads == 0,
      "model.heads = {} and model.key_value_heads = {}; the heads must be a multiple of the key/value heads",
      config.heads, config.key_value_heads);
  require<ConfigError>(config.feed_forward_width >= 0,
                       "model.feed_forward_width = {}; it must be at least 1, or 0 for model.feed_forward "
                       "times the width",
                       config.feed_forward_width);
  if (config.feed_forward_width == 0) require_positive("feed_forward", config.feed_forward);
  require<ConfigError>(config.norm == "layer" || config.norm == "rms",
                       "model.norm = \"{}\"; it is one of layer, rms", config.norm);
  require<ConfigError>(
      config.activation == "gelu" || config.activation == "gelu_tanh" || config.activation == "swiglu",
      "model.activation = \"{}\"; it is one of gelu, gelu_tanh, swiglu", config.activation);
  require<ConfigError>(config.norm_epsilon > 0 && std::isfinite(config.norm_epsilon),
                       "model.norm_epsilon = {}; it must be above 0", config.norm_epsilon);
  require<ConfigError>(config.dropout >= 0 && config.dropout <= 1,
                       "model.dropout = {}; it must lie between 0 and 1", config.dropout);
}

const std::string& PositionalConfig::kind_of_layer(Index layer) const {
  return pattern.empty() ? kind : pattern[static_cast<std::size_t>(layer) % pattern.size()];
}

std::vector<std::string> PositionalConfig::kinds() const {
  if (pattern.empty()) return {kind};
  std::vector<std::string> each;
  for (const std::string& name : pattern) {
    if (std::ranges::find(each, name) == each.end()) each.push_back(name);
  }
  return each;
}

bool PositionalConfig::uses(std::string_view name) const {
  return pattern.empty() ? kind == name : std::ranges::find(pattern, name) != pattern.end();
}

std::string PositionalConfig::name() const {
  return pattern.empty() ? kind : fmt::format("{}", fmt::join(pattern, "/"));
}

namespace {

void validate_score_scale(const PositionalConfig& config, Index train_length) {
  const ScoreScaleConfig& score = config.score;
  require<ConfigError>(
      score.scale == "none" || score.scale == "logn" || score.scale == "ssmax" || score.scale == "llama4",
      "positional.score.scale = \"{}\"; it is one of none, logn, ssmax, llama4", score.scale);
  require<ConfigError>(
      score.base_length == 0 || score.base_length >= 2,
      "positional.score.base_length = {}; it must be at least 2, or 0 for the trained length",
      score.base_length);
  require<ConfigError>(
      score.scale != "logn" || score.base_length > 0 || train_length >= 2,
      "positional.score.scale = \"logn\" divides by the logarithm of the trained length, and "
      "train.length = {}; give positional.score.base_length",
      train_length);
  require<ConfigError>(score.floor_scale >= 1 && std::isfinite(score.floor_scale),
                       "positional.score.floor_scale = {}; it must be at least 1", score.floor_scale);
  require<ConfigError>(score.attention_scale >= 0 && std::isfinite(score.attention_scale),
                       "positional.score.attention_scale = {}; it must be 0 or more", score.attention_scale);
  require<ConfigError>(score.scale != "llama4" || config.pattern.empty() || config.uses("none"),
                       "positional.score.scale = \"llama4\" acts on the layers of kind none, and "
                       "positional.layers.pattern = {} has none of them",
                       config.pattern);
}

}  // namespace

void validate(const PositionalConfig& config, const ModelConfig& model, Index train_length) {
  require<ConfigError>(static_cast<Index>(config.pattern.size()) <= model.layers,
                       "positional.layers.pattern = {} and model.layers = {}; the pattern may not be longer "
                       "than the model",
                       config.pattern, model.layers);
  validate_score_scale(config, train_length);
  const RandomizedConfig& randomized = config.randomized;
  require<ConfigError>(randomized.maximum == 0 || randomized.maximum >= train_length,
                       "positional.randomized.maximum = {} and train.length = {}; each row of a window needs "
                       "a position of its own, or 0 for no draw",
                       randomized.maximum, train_length);
  require<ConfigError>(randomized.evaluation == "arange" || randomized.evaluation == "sample",
                       "positional.randomized.evaluation = \"{}\"; it is one of arange, sample",
                       randomized.evaluation);
}

}  // namespace tapeline
