#pragma once

#include "experiments/command_line/command.h"

namespace tapeline {

/// tapeline compare [CONFIG]: trains every variant under every seed, evaluates each at every length, writes
/// results and report.
Command compare_command();

}  // namespace tapeline
