#pragma once

#include "experiments/commands/command.h"

namespace tapeline {

/// `tapeline prepare SOURCE... --out FILE`: text to token store.
void add_prepare_command(CLI::App& app, Invocation& invocation);

}  // namespace tapeline
