#pragma once

#include "experiments/command_line/command.h"

namespace tapeline {

/// tapeline inspect CHECKPOINT [NAME]: what a checkpoint holds, and whether it is healthy.
Command inspect_command();

}  // namespace tapeline
