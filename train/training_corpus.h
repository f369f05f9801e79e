#pragma once

#include "data/corpus.h"
#include "train/checkpoint.h"
#include "train/config_loader.h"

namespace tapeline {

/// Whether the text decides what the tokens are, and so data.vocabulary: for "chars".
bool text_decides_tokens(const Config& config);

/// Loads the text that the configuration names, cut by `split`. Where the text decides what the tokens are,
/// data.vocabulary becomes their number, with an origin that says so, and one warning names the symbols of
/// the blocks held back that training will not see. `earlier`: the checkpoint to go on from; its tokens are
/// kept. Throws ConfigError when another data.vocabulary was asked for, else as load_corpus().
Corpus load_training_corpus(ResolvedConfig& config, const SplitRule& split,
                            const Checkpoint* earlier = nullptr);

}  // namespace tapeline
