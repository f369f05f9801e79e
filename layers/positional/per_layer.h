#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "layers/positional/registry.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// What an encoding has one of for all of its layers, or one a layer: parameters, mostly. In a pattern of
/// kinds a layer of another kind gets none.
template <class Own>
class PerLayer {
 public:
  PerLayer() = default;
  /// Calls `make(scope)` -> Own: once, with the encoding's own scope; with `per_layer` for every layer that
  /// the encoding serves, in order, with layer_scope().
  template <class Make>
  PerLayer(const EncodingContext& context, bool per_layer, const Make& make) {
    if (!per_layer) {
      made_.push_back(make(context.scope));
      return;
    }
    for (Index layer = 0; layer < context.layers; ++layer) {
      place_.push_back(made_.size());
      if (context.serves(layer)) made_.push_back(make(layer_scope(context.scope, layer)));
    }
  }

  /// That of a layer which the encoding serves.
  const Own& operator[](Index layer) const {
    return made_[place_.empty() ? 0 : place_[static_cast<std::size_t>(layer)]];
  }

 private:
  std::vector<Own> made_;
  std::vector<std::size_t> place_;  // in made_, by layer; empty: one for all
};

}  // namespace tapeline::inline TAPELINE_PRECISION
