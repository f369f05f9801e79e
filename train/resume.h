#pragma once

#include <string>

#include "train/checkpoint.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// Whether the run described by `config` and `now` (text, tokens, threads of this process) may go on from a
/// checkpoint. Throws ConfigError for another configuration, DataError for another text or other tokens.
/// Another number of threads is allowed while steps are left; one warning, after `prefix`, says that the
/// result will not be bit-identical.
void check_resumable(const Checkpoint& checkpoint, const Config& config, const TrainingRecord& now,
                     const std::string& prefix);

}  // namespace tapeline::inline TAPELINE_PRECISION
