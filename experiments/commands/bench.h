#pragma once

#include "experiments/commands/command.h"

namespace tapeline {

/// tapeline bench step: the speed of a training step against the machine's own measured limit.
void add_bench_command(CLI::App& app, Invocation& invocation);

}  // namespace tapeline
