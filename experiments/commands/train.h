#pragma once

#include "experiments/command_line/command.h"

namespace tapeline {

/// tapeline train [CONFIG]: one model, in a run folder of its own.
Command train_command();

}  // namespace tapeline
