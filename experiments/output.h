#pragma once

#include <string_view>

namespace tapeline {

/// Writes results to standard output, at once. Throws FileError when that fails (a full disk); a reader who
/// has left (a closed pipe, as behind `| head`) is no failure: the text is dropped and the command goes on.
void write_output(std::string_view text);

/// Error texts on one line: line breaks become blanks.
void write_error(std::string_view text);

}  // namespace tapeline
