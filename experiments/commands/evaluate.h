#pragma once

#include "experiments/command_line/command.h"

namespace tapeline {

/// tapeline evaluate CHECKPOINT: one trained model at many lengths.
Command evaluate_command();

}  // namespace tapeline
