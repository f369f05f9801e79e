#pragma once

#include "experiments/commands/command.h"

namespace tapeline {

/// tapeline evaluate CHECKPOINT: one trained model at many lengths.
void add_evaluate_command(CLI::App& app, Invocation& invocation);

}  // namespace tapeline
