#pragma once

#include "experiments/command_line/command.h"

namespace tapeline {

/// `tapeline prepare SOURCE... --out FILE`: text to token store.
Command prepare_command();

}  // namespace tapeline
