#pragma once

#include "experiments/command_line/command.h"

namespace tapeline {

/// tapeline manual [PAGE]: manual pages made of the commands and of the table of configuration keys.
Command manual_command();

}  // namespace tapeline
