#pragma once

#include "experiments/commands/command.h"

namespace tapeline {

/// `tapeline doctor`: whether this machine is right for the program, and the lines that mend what is not.
void add_doctor_command(CLI::App& app, Invocation& invocation);

}  // namespace tapeline
