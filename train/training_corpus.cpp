#include "train/training_corpus.h"

#include "core/error.h"
#include "train/log.h"

namespace tapeline {

bool text_decides_tokens(const Config& config) { return config.data.tokenizer == "chars"; }

Corpus load_training_corpus(ResolvedConfig& config, const SplitRule& split, const Checkpoint* earlier) {
  DataConfig& data = config.config.data;
  if (!text_decides_tokens(config.config)) return load_corpus(data.source, data.tokenizer, split);

  std::unique_ptr<Tokenizer> known;
  if (earlier != nullptr) {
    known = earlier->make_tokenizer();
    require<ConfigError>(known->kind() == data.tokenizer,
                         "\"{}\" was trained with the tokenizer \"{}\", and data.tokenizer is \"{}\"",
                         earlier->path().string(), known->kind(), data.tokenizer);
  }
  Corpus corpus = load_corpus(data.source, data.tokenizer, split, std::move(known));
  if (!corpus.unknown.empty()) {
    spdlog::warn(
        "the blocks held back from training have {}, which those to train on have not: each counts as "
        "unknown",
        corpus.unknown);
  }
  const Index found = corpus.tokenizer->size();
  std::string& origin = config.origins["data.vocabulary"];
  require<ConfigError>(
      origin == "default" || data.vocabulary == found,
      "data.vocabulary is {} ({}), and \"{}\" makes {} tokens; leave it out, the text decides",
      data.vocabulary, origin, data.source, found);
  if (origin == "default") origin = "the text";
  data.vocabulary = found;
  return corpus;
}

}  // namespace tapeline
