#pragma once

#include <string>
#include <vector>

namespace tapeline {

/// What a program did that ran and ended.
struct ChildOutput {
  std::string output;  ///< all it wrote to its standard output
  int status = 0;      ///< its exit code; 128 + the signal's number if one ended it
};

/// Runs a program found through PATH, without a shell, its standard input empty and its messages dropped.
/// Throws FileError with the system's reason if it cannot be started; `missing` says what to do if there is
/// no such program.
ChildOutput run_child(const std::vector<std::string>& command, const std::string& missing);

}  // namespace tapeline
