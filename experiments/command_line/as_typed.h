#pragma once

#include <string>

namespace tapeline {

/// The command line of this process as one could type it into a shell again; "tapeline" stands for the path
/// of the program. Empty where the system does not tell.
std::string command_line();

/// A word quoted for a shell, where it must be.
std::string shell_quoted(const std::string& word);

}  // namespace tapeline
