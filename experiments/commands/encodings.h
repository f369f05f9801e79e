#pragma once

#include "experiments/command_line/command.h"

namespace tapeline {

/// `tapeline encodings [NAME]`: the positional encodings of this build.
Command encodings_command();

}  // namespace tapeline
