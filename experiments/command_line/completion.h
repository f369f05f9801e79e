#pragma once

#include <string>

#include "experiments/command_line/command.h"

namespace tapeline {

/// Scripts that let a shell complete the commands of a program, their options, and the values that are known
/// beforehand; paths where a path is meant. None needs anything but its shell.

/// For bash 4.4 or later: `source <(tapeline completion bash)`.
std::string bash_completion(const Program& program);
/// For zsh, as the file _tapeline in a folder of $fpath.
std::string zsh_completion(const Program& program);
/// For fish 3: `tapeline completion fish | source`.
std::string fish_completion(const Program& program);

}  // namespace tapeline
