#pragma once

#include <string_view>
#include <vector>

#include "train/config.h"

namespace tapeline {

/// What the model of this config is built from.
ModelPlan model_plan(const Config& config);

/// "4x" is 4 * train_length (also "1.5x", where that is whole), "512" is 512. Throws ConfigError for anything
/// else, naming `key`.
Index length_in_tokens(std::string_view length, Index train_length,
                       std::string_view key = "evaluate.lengths");

/// evaluate.lengths in tokens, in their order, each once.
std::vector<Index> evaluation_lengths(const Config& config);
/// evaluate.sliding_up_to in tokens.
Index sliding_limit(const Config& config);
/// evaluate.stride; L/2 (at least 1) for 0.
Index sliding_stride(const Config& config);

/// Windows of one optimizer step: train.tokens_per_step / train.length.
Index windows_per_step(const Config& config);

}  // namespace tapeline
