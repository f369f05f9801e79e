#pragma once

#include "experiments/command_line/command.h"

namespace tapeline {

/// tapeline report DIR...: the report of a comparison made again from what is stored, of several folders
/// together too.
Command report_command();

}  // namespace tapeline
