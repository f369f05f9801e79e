#pragma once

#include "experiments/commands/command.h"

namespace tapeline {

/// tapeline generate CHECKPOINT --prompt TEXT: text, with a key/value cache, streamed to the terminal.
void add_generate_command(CLI::App& app, Invocation& invocation);

}  // namespace tapeline
