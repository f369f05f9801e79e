#pragma once

#include <string>
#include <variant>
#include <vector>

#include "experiments/command_line/command.h"

namespace tapeline {

/// What a command line asks for instead of running a command.
struct HelpWanted {
  const Command* command;  ///< none: of the whole program
};
struct VersionWanted {};

using ParsedLine = std::variant<const Command*, HelpWanted, VersionWanted>;

/// Reads the words of a command line (without the program's own name) and fills the targets of the options.
/// An empty value (`--out ""`, an unset variable of a shell) is refused for every option and word. Throws
/// ConfigError that says what is wrong, with the nearest name for a misspelt one.
ParsedLine parse_command_line(const Program& program, const std::vector<std::string>& words);

}  // namespace tapeline
