#pragma once

#include "experiments/command_line/command.h"

namespace tapeline {

/// tapeline generate CHECKPOINT --prompt TEXT: text, with a key/value cache, streamed to the terminal.
Command generate_command();

}  // namespace tapeline
