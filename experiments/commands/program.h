#pragma once

#include "experiments/command_line/command.h"

namespace tapeline {

/// Every command of the program, in the order of --help.
Program tapeline_program();

}  // namespace tapeline
