#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

namespace tapeline {

/// What the program ends with. A command returns one of the first, fourth and fifth; the others come from
/// what it throws: ConfigError is `usage`, every other exception `failed`.
namespace exit_code {
inline constexpr int done = 0;
inline constexpr int failed = 1;   ///< one clear line on standard error
inline constexpr int usage = 2;    ///< a command line or config that cannot be obeyed
inline constexpr int stopped = 3;  ///< by a signal, after saving
inline constexpr int unmet = 4;    ///< a check that was asked for did not hold
}  // namespace exit_code

/// What the command line asks for: filled while it is read, run afterwards.
struct Invocation {
  std::function<int()> run;
};

/// Adds the subcommand `name`: one line about it, an example for --help, and what to run when the line has
/// been read. The caller adds the options to the subcommand returned; what they are stored in must outlive
/// the parse, so commands keep it in a shared_ptr that `run` holds too.
CLI::App& add_command(CLI::App& app, Invocation& invocation, const std::string& name,
                      const std::string& description, const std::string& example, std::function<int()> run);

/// Makes an empty value (`--out ""`, an unset variable of a shell) a wrong command line for every option and
/// positional word of every command, instead of the same as none. Called when all commands are there.
void refuse_empty_values(CLI::App& app);

}  // namespace tapeline
