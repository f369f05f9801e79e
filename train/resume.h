#pragma once

#include <string>

#include "train/checkpoint.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// Throws DataError, naming the symbols, unless the tokens of the checkpoint are those of `now`: compared by
/// content, since another vocabulary may have the same size.
void check_same_tokens(const Checkpoint& checkpoint, const TrainingRecord& now);

/// Whether the run described by `config` and `now` (text, tokens, threads of this process) may go on from a
/// checkpoint. Throws ConfigError for another configuration, DataError for another text or other tokens.
/// Another number of threads is allowed while steps are left; one warning, after `prefix`, says that the
/// result will not be bit-identical.
void check_resumable(const Checkpoint& checkpoint, const Config& config, const TrainingRecord& now,
                     const std::string& prefix);

/// The weights of a checkpoint for a model of `config` to start from. Throws ConfigError, naming the keys,
/// for a checkpoint of another model.
void load_to_start_from(const Checkpoint& checkpoint, const Config& config, ParameterStore& parameters);

}  // namespace tapeline::inline TAPELINE_PRECISION
