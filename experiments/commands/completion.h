#pragma once

#include "experiments/command_line/command.h"

namespace tapeline {

/// tapeline completion SHELL: the script that lets a shell complete the command line.
Command completion_command();

}  // namespace tapeline
