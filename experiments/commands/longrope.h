#pragma once

#include "experiments/command_line/command.h"

namespace tapeline {

/// `tapeline longrope CHECKPOINT --target T`: LongRoPE's factors for contexts of T, searched by loss.
Command longrope_command();

}  // namespace tapeline
