#include "experiments/commands/checkpoint_text.h"

#include "core/error.h"
#include "data/corpus.h"
#include "train/log.h"

namespace tapeline {

TokenStore checkpoint_text(const Checkpoint& checkpoint, const std::string& path,
                           const Tokenizer& tokenizer) {
  if (!path.empty()) return load_corpus(path, tokenizer);
  const std::string& source = checkpoint.config().config.data.source;
  require<ConfigError>(source != "-",
                       "\"{}\" was trained on standard input, which is gone; give a text with --text",
                       checkpoint.path().string());
  TokenStore store = load_corpus(source, tokenizer, UnknownSymbols::as_token);
  if (store.digest() != checkpoint.record().corpus_digest) {
    // Symbols that training had not in its own text are one thing, those of another text another.
    store = load_corpus(source, tokenizer);
    spdlog::warn(
        "\"{}\" is not the text that the model was trained on (digest {}, then {}): what is held back from "
        "training may have been trained on",
        source, store.digest().substr(0, 12), checkpoint.record().corpus_digest.substr(0, 12));
  }
  return store;
}

}  // namespace tapeline
