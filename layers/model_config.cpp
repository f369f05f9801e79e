#include "layers/model_config.h"

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

}  // namespace tapeline
