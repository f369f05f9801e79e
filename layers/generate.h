#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "layers/transformer.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// How the next token is chosen.
struct Sampling {
  double temperature = 1;  ///< logits are divided by it; 0: the largest logit, the first of equals
  Index top_k = 0;         ///< only the k largest; 0, or above the vocabulary: all
  double top_p = 1;        ///< only the fewest, largest first, whose probabilities reach p
  std::uint64_t seed = 0;  ///< of the stream "sampling"; draw number n belongs to token number n
  Index text = 0;          ///< which of several texts of one seed: each has draws of its own
};

/// Throws ConfigError for a value that makes no sense.
void validate(const Sampling& sampling);

/// Chooses from `logits` [V]; `draw` is the number of the token that is being chosen. Throws NumericError
/// where a logit is no number.
Token sample(std::span<const Real> logits, const Sampling& sampling, Index draw);

struct Generation {
  Index tokens = 0;  ///< how many to make
  Sampling sampling{};
  bool cached = true;         ///< with a key/value cache; without, every step runs the whole window again
  Index prefill_chunk = 256;  ///< rows of the prompt run at once
  /// Asked after each of these chunks; may throw to stop.
  std::function<void()> after_chunk = {};
};

struct Generated {
  std::vector<Token> tokens;    ///< without the prompt
  Index slides = 0;             ///< how often the window was begun anew
  std::size_t cache_bytes = 0;  ///< memory of the key/value cache at the end; 0 without one
};

/// Several continuations of one prompt.
struct GeneratedTexts {
  std::vector<std::vector<Token>> texts;  ///< without the prompt
  Index slides = 0;
  std::size_t cache_bytes = 0;
};

/// Continues `prompt`. Where the encoding has a longest sequence and it is reached, the window slides: the
/// last max(1, longest / 2) tokens are run again as a fresh window, from position 0, and the older ones are
/// forgotten; a prompt longer than the limit begins that way. The text is the same with and without a cache.
/// Encodings without a limit never slide. `on_token` sees each token as it comes; false stops. Throws
/// DataError for an empty prompt, ShapeError for a prompt token outside the vocabulary.
Generated generate(const Transformer& model, std::span<const Token> prompt, const Generation& request,
                   const std::function<bool(Token)>& on_token = {});

/// The same for `count` texts at once, in one batch over one cache: the prompt is run once, and text number n
/// is drawn with Sampling::text n, so it does not depend on how many others there are. `on_token` sees each
/// token of each text as it comes, text after text; false ends that text, and the last end stops.
GeneratedTexts generate_texts(const Transformer& model, std::span<const Token> prompt,
                              const Generation& request, Index count,
                              const std::function<bool(Index text, Token token)>& on_token = {});

}  // namespace tapeline::inline TAPELINE_PRECISION
