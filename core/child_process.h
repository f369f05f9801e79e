#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tapeline {

/// What a program did that ran and ended.
struct ChildResult {
  std::string output;    ///< all it wrote to its standard output
  std::string messages;  ///< all it wrote to its standard error
  int status = 0;        ///< its exit code; 128 + the signal's number if one ended it
};

/// Runs a program found through PATH, without a shell, with `input` as its standard input, and waits for its
/// end. It starts with every signal as by default, whatever this program blocks or ignores. Throws FileError
/// with the system's reason if it cannot be started; `missing` says what to do if there is no such program.
ChildResult run_child(const std::vector<std::string>& command, std::string_view input,
                      const std::string& missing);

}  // namespace tapeline
