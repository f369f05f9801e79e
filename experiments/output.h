#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace tapeline {

/// Writes results to standard output, at once. Throws FileError when that fails (a full disk); a reader who
/// has left (a closed pipe, as behind `| head`) is no failure: the text is dropped and the command goes on.
void write_output(std::string_view text);

/// JSON as it is printed: over several lines, ended by a line break. What is no UTF-8 in it, as a path may
/// be, becomes U+FFFD.
std::string printed_json(const nlohmann::ordered_json& json);

/// Writes to standard error what was asked for beside the results.
void write_note(std::string_view text);

/// Says in one line that a signal stopped `what` ("evaluate"), and what is kept or lost, and how to go on.
void tell_stopped(std::string_view what, std::string_view rest);

/// Error texts on one line: line breaks become blanks.
void write_error(std::string_view text);

}  // namespace tapeline
