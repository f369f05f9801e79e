#pragma once

#include "layers/init.h"
#include "layers/pass.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// The token table: one row of `width` numbers a symbol, N(0, 0.02^2) at the start. Parameter: weight [V, C].
/// Tied models use it as the head too.
struct Embedding {
  Embedding(const Scope& scope, Index vocabulary, Index width);

  /// Throws ShapeError for an id outside the table.
  Var operator()(Pass& pass, std::span<const Token> ids, Index batch, Index time) const;  // -> [B, T, C]

  Parameter* weight = nullptr;
};

}  // namespace tapeline::inline TAPELINE_PRECISION
