#pragma once

#include "experiments/commands/command.h"

namespace tapeline {

/// tapeline inspect CHECKPOINT [NAME]: what a checkpoint holds, and whether it is healthy.
void add_inspect_command(CLI::App& app, Invocation& invocation);

}  // namespace tapeline
