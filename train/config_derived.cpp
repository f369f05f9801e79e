#include "train/config_derived.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/error.h"
#include "core/excerpt.h"

namespace tapeline {

ModelPlan model_plan(const Config& config) {
  return {.model = config.model,
          .positional = config.positional,
          .vocabulary = config.data.vocabulary,
          .train_length = config.train.length,
          .seed = config.train.seed};
}

Index length_in_tokens(std::string_view length, Index train_length, std::string_view key) {
  const bool multiple = length.ends_with('x');
  const std::string_view digits = length.substr(0, length.size() - (multiple ? 1 : 0));
  double factor = 0;  // from_chars, unlike strtod, reads a point in every locale
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), factor, std::chars_format::fixed);
  const bool number = error == std::errc() && end == digits.data() + digits.size() && !digits.empty();
  require<ConfigError>(number && factor > 0,
                       "{}: \"{}\" is no length; give tokens (128) or a multiple of the "
                       "trained length (\"2x\")",
                       key, excerpt(length));
  const double tokens = multiple ? factor * static_cast<double>(train_length) : factor;
  require<ConfigError>(tokens == std::floor(tokens) && tokens <= 1LL << 40,
                       "{}: \"{}\" is {} tokens with train.length {}; it must be a whole number up to 2^40",
                       key, excerpt(length), tokens, train_length);
  return static_cast<Index>(tokens);
}

std::vector<Index> evaluation_lengths(const Config& config) {
  std::vector<Index> lengths;
  for (const std::string& text : config.evaluate.lengths) {
    const Index length = length_in_tokens(text, config.train.length);
    if (std::ranges::find(lengths, length) == lengths.end()) lengths.push_back(length);
  }
  return lengths;
}

Index sliding_limit(const Config& config) {
  return length_in_tokens(config.evaluate.sliding_up_to, config.train.length, "evaluate.sliding_up_to");
}

Index sliding_stride(const Config& config) {
  return config.evaluate.stride != 0 ? config.evaluate.stride : std::max<Index>(1, config.train.length / 2);
}

Index windows_per_step(const Config& config) { return config.train.tokens_per_step / config.train.length; }

}  // namespace tapeline
