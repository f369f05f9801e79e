#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "data/token_store.h"
#include "data/tokenizer.h"
#include "data/window_sampler.h"
#include "layers/transformer.h"
#include "train/config_loader.h"
#include "train/history.h"
#include "train/optimizer.h"

namespace tapeline {

/// What a checkpoint keeps beside weights and moments. No date, time, speed or host: identical state gives an
/// identical file, byte for byte.
struct TrainingRecord {
  Index step = 0;     ///< optimizer steps done
  Index skipped = 0;  ///< of these, steps whose update was skipped because a gradient was not finite
  /// Threads of the process that made it: sums repeat bit for bit at one count only. 0: not known.
  int threads = 0;
  SamplerCursor cursor;
  std::string corpus_source, corpus_digest;
  std::string tokenizer_kind, tokenizer_digest;
  std::vector<std::int32_t> tokenizer_table;    ///< Tokenizer::table()
  std::vector<HistoryEntry> losses;             ///< mean nats a token, every step
  std::vector<HistoryEntry> validation_losses;  ///< where evaluated
};

/// The record of a run on that text, by this process, of which nothing is done yet.
TrainingRecord fresh_record(const TokenStore& store, const Tokenizer& tokenizer);

}  // namespace tapeline

namespace tapeline::inline TAPELINE_PRECISION {

/// What stands in one checkpoint, by reference.
struct CheckpointContents {
  const Transformer& model;
  const Optimizer* optimizer = nullptr;  ///< absent: weights only
  const ResolvedConfig& config;
  const TrainingRecord& record;
};

/// Writes the file atomically: a failed or interrupted save leaves the old file as it was. Throws FileError,
/// and NumericError when a weight is not a finite number.
void save_checkpoint(const std::filesystem::path& path, const CheckpointContents& contents);
/// The bytes of that file (tests compare them).
std::string checkpoint_image(const CheckpointContents& contents);

/// A checkpoint of ours, its length and digest checked before anything else is believed.
class Checkpoint {
 public:
  /// `path`: a file; see resolve_checkpoint() for what a command line may name. Throws FileError, one line
  /// that names the file, for anything that is not a whole checkpoint of this format.
  explicit Checkpoint(const std::filesystem::path& path);
  ~Checkpoint();
  Checkpoint(Checkpoint&&) noexcept;

  const std::filesystem::path& path() const;
  const ResolvedConfig& config() const;  ///< the whole configuration it was trained with
  const TrainingRecord& record() const;

  /// The weights. Every name and shape must match: missing, extra and mis-shaped ones are listed in one
  /// FileError before anything is changed.
  void load_weights(ParameterStore& parameters) const;
  /// Moments and the count of updates, as strictly. Throws FileError for another kind of optimizer, or none.
  void load_optimizer(Optimizer& optimizer, const ParameterStore& parameters) const;

  /// The very tokenizer that the model was trained with. Throws FileError when what is stored makes none, or
  /// another.
  std::unique_ptr<Tokenizer> make_tokenizer() const;
  /// The model that the stored configuration describes, with the stored weights.
  std::unique_ptr<Transformer> make_model() const;

 private:
  struct Contents;
  std::unique_ptr<Contents> contents_;
};

}  // namespace tapeline::inline TAPELINE_PRECISION
