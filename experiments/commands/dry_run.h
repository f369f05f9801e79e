#pragma once

#include "experiments/commands/common.h"
#include "train/config_loader.h"

namespace tapeline {

/// --dry-run: prints the resolved config with the origin of each value, parameters, floating-point operations
/// of a step and of all training, memory and time, and returns exit_code::done. Memory and time come from a
/// few steps on made-up tokens, run now; a model that would not fit this machine is only counted. `models`:
/// how many such models the command would train, `evaluations`: what it evaluates besides them, as trained.
int dry_run(const ResolvedConfig& config, const OutputOptions& output, Index models = 1,
            const std::vector<std::string>& evaluations = {});

}  // namespace tapeline
