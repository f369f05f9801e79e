#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/key_mask.h"
#include "layers/option.h"
#include "layers/positional/kinds_of_build.h"

namespace tapeline {

/// [model]: the sizes and options of a decoder-only Transformer.
struct ModelConfig {
  Index layers = 4;
  Index width = 128;
  Index heads = 4;
  Index key_value_heads = 0;     ///< 0: as many as heads
  Index feed_forward = 4;        ///< inner width as a multiple of width
  Index feed_forward_width = 0;  ///< inner width itself, when not 0
  std::string norm = "layer";    ///< "layer" | "rms"
  double norm_epsilon = 1e-5;
  std::string activation = "gelu";  ///< "gelu" | "gelu_tanh" | "swiglu"
  bool bias = true;
  bool tied = true;  ///< the head is the token table
  bool parallel_residual = false;
  bool embedding_norm = false;
  double dropout = 0;

  Index resolved_key_value_heads() const { return key_value_heads == 0 ? heads : key_value_heads; }
  Index resolved_feed_forward_width() const {
    return feed_forward_width == 0 ? feed_forward * width : feed_forward_width;
  }
  Index head_width() const { return width / heads; }
};

/// Throws ConfigError, one line that names the keys, for sizes and words that do not fit together.
void validate(const ModelConfig& config);

/// [positional.score]: a factor on q . k by how many keys the query row sees; see ScoreScale.
struct ScoreScaleConfig {
  std::string scale = "none";    ///< "none" | "logn" | "ssmax" | "llama4"
  bool clip = true;              ///< logn: never below 1
  Index base_length = 0;         ///< logn: the keys at which the factor is 1; 0: the trained length
  double floor_scale = 8192;     ///< llama4: keys to a step of the factor
  double attention_scale = 0.1;  ///< llama4: the height of the steps
};

/// [positional.randomized]: training rows get distinct positions drawn from [0, maximum), in order.
struct RandomizedConfig {
  Index maximum = 0;                  ///< 0: no draw
  std::string evaluation = "arange";  ///< "arange": 0, 1, 2, ...; "sample": drawn as in training
};

/// [positional]: which encoding, the options of each kind, and the wrappers around any of them.
struct PositionalConfig {
  std::string kind{default_kind()};
  std::map<std::string, OptionValues> options;  ///< by kind; a kind without entry has its defaults
  KeyMask keys;                                 ///< [positional.keys] window, sinks
  ScoreScaleConfig score = {};
  RandomizedConfig randomized = {};
  /// [positional.layers] pattern: kinds repeated over the layers; empty: `kind` in every layer.
  std::vector<std::string> pattern = {};

  const std::string& kind_of_layer(Index layer) const;
  /// Each kind once, in the order of the layers.
  std::vector<std::string> kinds() const;
  bool uses(std::string_view name) const;
  /// For people: "rope", with a pattern "rope/none".
  std::string name() const;
};

/// Throws ConfigError, one line that names the keys, for wrappers that make no sense in a model of these
/// sizes (the options of a kind are checked where it is made).
void validate(const PositionalConfig& config, const ModelConfig& model, Index train_length);

/// What a model is built from.
struct ModelPlan {
  ModelConfig model;
  PositionalConfig positional;
  Index vocabulary = 256;
  Index train_length = 64;  ///< the trained length L: the rows of a learned table, the L0 of every scaling
  std::uint64_t seed = 0;
};

}  // namespace tapeline
