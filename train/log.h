#pragma once

#include <spdlog/spdlog.h>

namespace tapeline {

enum class LogLevel { quiet, normal, verbose };

/// Messages to standard error, without time or colour when it is no terminal; set up once, by the program.
/// quiet: warnings and errors only; verbose: debug messages too.
void set_up_log(LogLevel level);

}  // namespace tapeline
