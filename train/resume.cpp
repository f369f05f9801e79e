#include "train/resume.h"

#include <algorithm>
#include <iterator>

#include "core/counted.h"
#include "core/error.h"
#include "core/excerpt.h"
#include "data/character_tokenizer.h"
#include "train/log.h"

namespace tapeline::inline TAPELINE_PRECISION {

namespace {

using Table = std::vector<std::int32_t>;

std::string only_in(const Table& first, const Table& second) {
  Table left;
  std::ranges::set_difference(first, second, std::back_inserter(left));
  return left.empty() ? "nothing" : name_characters(left);
}

}  // namespace

void check_same_tokens(const Checkpoint& checkpoint, const TrainingRecord& now) {
  const TrainingRecord& stored = checkpoint.record();
  if (stored.tokenizer_digest == now.tokenizer_digest) return;
  const std::string name = checkpoint.path().string();
  require<DataError>(stored.tokenizer_kind == now.tokenizer_kind,
                     "\"{}\" was trained with other tokens (\"{}\") than the text has (\"{}\")", name,
                     excerpt(stored.tokenizer_kind), now.tokenizer_kind);
  fail<DataError>("\"{}\" was trained with another vocabulary: only it has {}, only the text \"{}\" has {}",
                  name, only_in(stored.tokenizer_table, now.tokenizer_table), now.corpus_source,
                  only_in(now.tokenizer_table, stored.tokenizer_table));
}

void check_resumable(const Checkpoint& checkpoint, const Config& config, const TrainingRecord& now,
                     const std::string& prefix) {
  const std::string name = checkpoint.path().string();
  const auto differences = run_difference(checkpoint.config().config, config);
  require<ConfigError>(differences.empty(), "\"{}\" was trained with another configuration: {}", name,
                       describe(differences));
  const TrainingRecord& stored = checkpoint.record();
  check_same_tokens(checkpoint, now);
  require<DataError>(
      stored.corpus_digest == now.corpus_digest,
      "\"{}\" was trained on another text than \"{}\" is now (digest {}, now {}); a run cannot go on with it",
      name, now.corpus_source, stored.corpus_digest.substr(0, 12), now.corpus_digest.substr(0, 12));
  if (stored.threads > 0 && stored.threads != now.threads && stored.step < config.train.steps) {
    spdlog::warn(
        "{}trained with {} up to step {}, now with {}: the result will not be bit-identical to that of a run "
        "at one count",
        prefix, counted(stored.threads, "thread"), stored.step, now.threads);
  }
}

void load_to_start_from(const Checkpoint& checkpoint, const Config& config, ParameterStore& parameters) {
  try {
    checkpoint.load_weights(parameters);
  } catch (const FileError&) {
    // Tensors that are missing or of another shape: the keys that they come from say more than their names.
    std::vector<ConfigDifference> of_model;
    std::ranges::copy_if(config_difference(checkpoint.config().config, config), std::back_inserter(of_model),
                         [](const ConfigDifference& difference) {
                           return difference.key.starts_with("model.") ||
                                  difference.key.starts_with("positional.");
                         });
    if (of_model.empty()) throw;
    fail<ConfigError>(
        "\"{}\" holds the weights of another model: {}; without --preset a run that starts from a checkpoint "
        "has its configuration",
        checkpoint.path().string(), describe(of_model));
  }
}

}  // namespace tapeline::inline TAPELINE_PRECISION
