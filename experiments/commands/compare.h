#pragma once

#include "experiments/commands/command.h"

namespace tapeline {

/// tapeline compare [CONFIG]: trains every variant under every seed, evaluates each at every length, writes
/// results and report.
void add_compare_command(CLI::App& app, Invocation& invocation);

}  // namespace tapeline
