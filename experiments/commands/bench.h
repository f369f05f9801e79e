#pragma once

#include "experiments/command_line/command.h"

namespace tapeline {

/// tapeline bench step: the speed of a training step against the machine's own measured limit.
Command bench_command();

}  // namespace tapeline
