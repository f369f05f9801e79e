#include "train/resume.h"

#include "core/error.h"
#include "core/excerpt.h"
#include "train/log.h"

namespace tapeline::inline TAPELINE_PRECISION {

void check_resumable(const Checkpoint& checkpoint, const Config& config, const TrainingRecord& now,
                     const std::string& prefix) {
  const std::string name = checkpoint.path().string();
  const auto differences = config_difference(checkpoint.config().config, config);
  require<ConfigError>(differences.empty(), "\"{}\" was trained with another configuration: {}", name,
                       describe(differences));
  const TrainingRecord& stored = checkpoint.record();
  require<DataError>(
      stored.corpus_digest == now.corpus_digest,
      "\"{}\" was trained on another text than \"{}\" is now (digest {}, now {}); a run cannot go on with it",
      name, now.corpus_source, stored.corpus_digest.substr(0, 12), now.corpus_digest.substr(0, 12));
  require<DataError>(stored.tokenizer_digest == now.tokenizer_digest,
                     "\"{}\" was trained with other tokens (\"{}\") than the text has (\"{}\")", name,
                     excerpt(stored.tokenizer_kind), now.tokenizer_kind);
  if (stored.threads > 0 && stored.threads != now.threads && stored.step < config.train.steps) {
    spdlog::warn(
        "{}trained with {} thread{} up to step {}, now with {}: the result will not be bit-identical to that "
        "of a run at one count",
        prefix, stored.threads, stored.threads == 1 ? "" : "s", stored.step, now.threads);
  }
}

}  // namespace tapeline::inline TAPELINE_PRECISION
