#pragma once

#include <string>

#include "data/token_store.h"
#include "data/tokenizer.h"
#include "train/checkpoint.h"

namespace tapeline {

/// The text at `path`, or where that is empty the one that the model was trained on; a warning where that is
/// not the same any more. Throws ConfigError for one that is gone, and what load_corpus() throws.
TokenStore checkpoint_text(const Checkpoint& checkpoint, const std::string& path, const Tokenizer& tokenizer);

}  // namespace tapeline
