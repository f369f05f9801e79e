#pragma once

#include "experiments/command_line/command.h"

namespace tapeline {

/// tapeline bench: the speed of a training step, of attention, products, evaluation or generation against the
/// machine's own measured limit.
Command bench_command();

}  // namespace tapeline
