#pragma once

#include "experiments/command_line/command.h"

namespace tapeline {

/// tapeline claims [ID | DIR]...: circulating statements about positional encodings, each tested.
Command claims_command();

}  // namespace tapeline
