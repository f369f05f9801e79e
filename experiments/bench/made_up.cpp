#include "experiments/bench/made_up.h"

#include <algorithm>
#include <memory>
#include <string>

#include "core/parallel.h"
#include "core/random.h"

namespace tapeline::inline TAPELINE_PRECISION {

Storage made_up_numbers(const Shape& shape, std::string_view name) {
  Storage storage(shape, "made-up operands");
  const RandomKey key = random_key(0, name);
  parallel_for(shape.size(), 1 << 12, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      storage.data()[i] = static_cast<Real>(random_uniform(key, static_cast<std::uint64_t>(i)) - 0.5);
    }
  });
  return storage;
}

// The text, and its tokens, which grow by doubling.
double made_up_text_bytes(Index tokens) { return 3.0 * static_cast<double>(tokens); }

TokenStore made_up_text(Index tokens, Index vocabulary, std::uint64_t seed) {
  const RandomKey key = random_key(seed, "bench");
  const auto kinds = static_cast<std::uint64_t>(std::min<Index>(vocabulary, 256));
  std::string text;
  text.reserve(static_cast<std::size_t>(tokens));
  for (Index i = 0; i < tokens; ++i)
    text += static_cast<char>(random_below(key, static_cast<std::uint64_t>(i), kinds));
  return TokenStore::from_text(text, *make_tokenizer("bytes"), "made up");
}

}  // namespace tapeline::inline TAPELINE_PRECISION
