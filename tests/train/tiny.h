#pragma once

#include <memory>
#include <string>

#include "core/random.h"
#include "data/token_store.h"
#include "data/tokenizer.h"
#include "layers/transformer.h"
#include "tests/support/kinds.h"
#include "tests/support/temporary_folder.h"
#include "train/config_derived.h"
#include "train/config_loader.h"
#include "train/scored_set.h"
#include "train/trainer.h"

/// A model and a text small enough to train in a fraction of a second.
namespace tapeline {

using test::TemporaryFolder;

/// 2 layers, 2 heads, width 16, context 16.
inline ResolvedConfig tiny_config(const std::string& kind = test::any_kind()) {
  ResolvedConfig config;
  config.config.model.layers = 2;
  config.config.model.width = 16;
  config.config.model.heads = 2;
  config.config.positional.kind = kind;
  config.config.train.length = 16;
  config.config.train.tokens_per_step = 128;
  config.config.train.steps = 40;
  config.config.train.checkpoint_every = 20;
  config.config.train.seed = 1;
  config.config.evaluate.lengths = {"1x", "2x", "4x"};
  config.config.evaluate.sliding_tokens = 256;
  return parse_resolved(resolved_text(config.config), {}, "tiny");
}

/// Words drawn at random from a short list: something to learn, and no end of it.
inline std::string tiny_text(Index bytes) {
  static constexpr const char* words[] = {"and ", "the ", "light ", "was ", "good ", "day ", "night ", "\n"};
  const RandomKey key = random_key(3, "tiny text");
  std::string text;
  for (std::uint64_t i = 0; static_cast<Index>(text.size()) < bytes; ++i) {
    text += words[random_below(key, i, std::size(words))];
  }
  text.resize(static_cast<std::size_t>(bytes));
  return text;
}

/// A text with its tokens and its splits.
struct TinyText {
  explicit TinyText(const Config& config, const std::string& text = tiny_text(32768))
      : tokenizer(make_tokenizer("bytes")),
        store(TokenStore::from_text(text, *tokenizer, "tiny")),
        splits(configured_splits(config, store.size())) {}
  TrainingText view() const { return {store, *tokenizer, splits}; }

  std::unique_ptr<Tokenizer> tokenizer;
  TokenStore store;
  Splits splits;
};

}  // namespace tapeline
