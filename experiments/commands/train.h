#pragma once

#include "experiments/commands/command.h"

namespace tapeline {

/// tapeline train [CONFIG]: one model, in a run folder of its own.
void add_train_command(CLI::App& app, Invocation& invocation);

}  // namespace tapeline
