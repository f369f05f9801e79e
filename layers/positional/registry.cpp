#include "layers/positional/registry.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "core/error.h"
#include "core/excerpt.h"
#include "layers/positional/kinds_of_build.h"

namespace tapeline::inline TAPELINE_PRECISION {

// positional_kinds.inc is written by the build: one line TAPELINE_KIND(name) for every kind compiled in.
#define TAPELINE_KIND(name) const EncodingKind& name##_kind();
#include "positional_kinds.inc"
#undef TAPELINE_KIND

std::span<const EncodingKind> encoding_kinds() {
  static const std::vector<EncodingKind> kinds = {
#define TAPELINE_KIND(name) name##_kind(),
#include "positional_kinds.inc"
#undef TAPELINE_KIND
  };
  return kinds;
}

bool EncodingContext::serves(Index layer) const {
  return own_layers.empty() || std::ranges::find(own_layers, layer) != own_layers.end();
}

Scope layer_scope(const Scope& any, Index layer) {
  return any.store().root().scope("blocks").scope(layer).scope("attention").scope("positional");
}

const EncodingKind& encoding_kind(std::string_view name, std::string_view key) {
  for (const EncodingKind& kind : encoding_kinds()) {
    if (kind.name == name) return kind;
  }
  require<ConfigError>(!is_left_out(name), "{} is \"{}\", {}", key, name, left_out_text());
  fail<ConfigError>("{} is \"{}\"; it must be one of {}", key, excerpt(name), fmt::join(built_kinds(), ", "));
}

std::unique_ptr<PositionalEncoding> make_encoding(const PositionalConfig& config,
                                                  const EncodingContext& context) {
  const EncodingKind& kind = encoding_kind(config.kind);
  require<ConfigError>(config.keys.window >= 0,
                       "positional.keys.window = {}; it must be 0 (all keys) or more", config.keys.window);
  require<ConfigError>(config.keys.sinks >= 0, "positional.keys.sinks = {}; it must be 0 or more",
                       config.keys.sinks);
  OptionValues options(kind.options);
  if (const auto given = config.options.find(config.kind); given != config.options.end()) {
    for (const auto& [name, value] : given->second.all()) {
      const auto field = std::find_if(kind.options.begin(), kind.options.end(),
                                      [&name](const OptionField& known) { return known.name == name; });
      require<ConfigError>(field != kind.options.end(), "positional.{}.{} is unknown", kind.name,
                           excerpt(name));
      options.set(name, checked_option(*field, value, fmt::format("positional.{}.{}", kind.name, name)));
    }
  }
  return kind.make(options, context);
}

}  // namespace tapeline::inline TAPELINE_PRECISION
