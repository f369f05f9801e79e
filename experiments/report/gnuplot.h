#pragma once

#include <string>
#include <string_view>

namespace tapeline {

/// Runs gnuplot as a child process that reads `script` from its standard input; nobody's start-up file is
/// read. Throws FileError when the program is missing (naming gnuplot-nox) or says no (with its own first
/// line).
void run_gnuplot(std::string_view script);

/// A text as a gnuplot string in single quotes, in which nothing has a meaning.
std::string gnuplot_quoted(std::string_view text);

}  // namespace tapeline
