#include "layers/embedding.h"

#include "core/ops.h"

namespace tapeline::inline TAPELINE_PRECISION {

Embedding::Embedding(const Scope& scope, Index vocabulary, Index width)
    : weight(&scope.add("weight", {.shape = {vocabulary, width}, .initializer = normal(), .decays = true})) {}

Var Embedding::operator()(Pass& pass, std::span<const Token> ids, Index batch, Index time) const {
  return embedding(pass.tape.leaf(*weight), ids, batch, time);
}

}  // namespace tapeline::inline TAPELINE_PRECISION
