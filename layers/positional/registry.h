#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "layers/model_config.h"
#include "layers/option.h"
#include "layers/positional/encoding.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// What an encoding is built from.
struct EncodingContext {
  Index width = 0, heads = 0, head_width = 0, layers = 0;
  Index train_length = 0;
  bool causal = true;
  Scope scope;                         ///< "positional/<kind>": parameters shared by the layers go here
  Index randomized_maximum = 0;        ///< positional.randomized.maximum
  std::vector<Index> own_layers = {};  ///< the layers that it serves; empty: all
  std::string kind = {};               ///< its name, where a model makes it

  /// Positions of training lie in [0, this): the trained length, or what a randomized draw is from.
  Index trained_positions() const { return randomized_maximum > 0 ? randomized_maximum : train_length; }
  /// Whether a layer is of this kind: only such a one needs parameters of its own.
  bool serves(Index layer) const;
};

/// Where the parameters of one layer's positions go: blocks/<layer>/attention/positional, in the store of any
/// of its scopes.
Scope layer_scope(const Scope& any, Index layer);

/// One row of the registry: an encoding's name, what a reader wants to know, its options, how it is made.
struct EncodingKind {
  std::string_view name;
  std::string_view title;  ///< "rotary position embedding"
  std::string_view formula;
  std::string_view acts_on;     ///< "queries and keys, every layer"
  std::string_view parameters;  ///< "none", "rows x width"
  std::string_view beyond;      ///< what happens past the trained length
  std::string_view paper;
  std::vector<OptionField> options;
  std::unique_ptr<PositionalEncoding> (*make)(const OptionValues& options, const EncodingContext& context);
};

/// The encodings of this build, in the order of built_kinds() (kinds_of_build.h).
std::span<const EncodingKind> encoding_kinds();
/// Throws ConfigError that lists the kinds of this build for any other name, and says so when the build left
/// it out. `key`: where the name stands.
const EncodingKind& encoding_kind(std::string_view name, std::string_view key = "positional.kind");
/// The encoding of config.kind, with the options that it has there. Throws ConfigError for options that make
/// no sense.
std::unique_ptr<PositionalEncoding> make_encoding(const PositionalConfig& config,
                                                  const EncodingContext& context);

}  // namespace tapeline::inline TAPELINE_PRECISION
