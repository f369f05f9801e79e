#pragma once

#include <string>

#include "data/corpus.h"
#include "train/run_folder.h"

namespace tapeline {

/// compare --budget on a folder that holds a comparison: takes the seeds and steps that were chosen when it
/// was begun, so that the same command goes on with it and nothing is timed again. False: the folder holds
/// none yet. Throws ConfigError when it was begun without a budget, or with another one.
bool take_earlier_choice(ResolvedConfig& config, const RunFolder& run, const std::string& budget);

/// Times the variants of the comparison and sets compare.seeds and train.steps to what fits the time, never
/// more than the configuration says, with "--budget 30m" as their origin; says what was chosen, and warns of
/// fewer steps than `fewest_steps`. Throws ConfigError with the time needed when not even one seed of half as
/// many fits.
void choose_for_budget(ResolvedConfig& config, const std::string& budget, Index fewest_steps,
                       const Corpus& corpus);

}  // namespace tapeline
