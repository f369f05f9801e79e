#pragma once

#include "experiments/command_line/command.h"

namespace tapeline {

/// `tapeline doctor`: whether this machine is right for the program, and the lines that mend what is not.
Command doctor_command();

}  // namespace tapeline
