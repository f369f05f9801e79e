#pragma once

#include "experiments/commands/command.h"

namespace tapeline {

/// `tapeline encodings [NAME]`: the positional encodings of this build.
void add_encodings_command(CLI::App& app, Invocation& invocation);

}  // namespace tapeline
