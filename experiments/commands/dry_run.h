#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/commands/common.h"
#include "experiments/compare/time_estimate.h"
#include "train/config_loader.h"

namespace tapeline {

/// What a command would do, besides training one model of its configuration.
struct DryRun {
  Index models = 1;                      ///< such models that it would train
  std::vector<std::string> evaluations;  ///< what it evaluates besides them, as trained
  double training_flops = 0;             ///< of all of them; 0: as many times that of the configuration
  std::optional<ComparisonTime> time =
      {};  ///< of all of it, evaluations too; nothing: training alone is timed
};

/// --dry-run: prints the resolved config with the origin of each value, parameters, floating-point operations
/// of a step and of all training, memory and time, and returns exit_code::done. Memory and time come from a
/// few steps on made-up tokens, run now; a model that would not fit this machine is only counted.
int dry_run(const ResolvedConfig& config, const OutputOptions& output, const DryRun& run = {});

}  // namespace tapeline
