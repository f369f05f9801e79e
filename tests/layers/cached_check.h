#pragma once

#include <doctest/doctest.h>

#include "tests/layers/tiny_model.h"

/// A model run in chunks over its cache against the same run whole.
namespace tapeline::inline TAPELINE_PRECISION {

inline const std::vector<std::vector<Index>>& chunkings() {
  static const std::vector<std::vector<Index>> all = {{1}, {6, 1}, {36}, {5, 7, 1, 3}, {35, 1}, {16}};
  return all;
}

inline void check_cached(const std::string& name, const Transformer& model) {
  const std::vector<Token> ids = tiny_tokens(36);
  const std::vector<double> whole = full_logits(model, ids);
  for (const std::vector<Index>& chunks : chunkings()) {
    const double difference = largest_difference(cached_logits(model, ids, chunks), whole);
    CHECK_MESSAGE(difference < cached_limit(), name, ", first chunk ", chunks[0], ": ", difference);
  }
}

}  // namespace tapeline::inline TAPELINE_PRECISION
