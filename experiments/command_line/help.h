#pragma once

#include <string>

#include "experiments/command_line/command.h"

namespace tapeline {

/// The usage line: "tapeline inspect [OPTIONS] CHECKPOINT [NAME]".
std::string usage_line(const Program& program, const Command& command);
/// How an option is written: "-q, --quiet", "--out DIR", "--set KEY=VALUE ...", "CHECKPOINT".
std::string option_form(const Option& option);

/// What --help prints, in lines of at most `width` columns; 0: no limit.
std::string help_text(const Program& program, std::size_t width);
std::string help_text(const Program& program, const Command& command, std::size_t width);

}  // namespace tapeline
