#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "core/error.h"
#include "core/excerpt.h"
#include "core/memory.h"
#include "experiments/command_line/help.h"
#include "experiments/command_line/parser.h"
#include "experiments/commands/program.h"
#include "experiments/exit_code.h"
#include "experiments/output.h"
#include "experiments/table.h"
#include "layers/positional/kinds_of_build.h"
#include "train/signals.h"

namespace tapeline {
namespace {

std::string version_text(const Program& program) {
  return fmt::format("{} {}\npositional encodings: {}\n", program.name, program.version, built_kinds_text());
}

/// The threads of OpenMP wait for each other turning in circles, long enough that beside any other work
/// the processors do little else: training was several times slower there. A short wait costs nothing on a
/// machine of one's own. The library reads this when it is loaded, so the program begins once more; where it
/// cannot, it goes on as it is.
void wait_shortly(char** arguments) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return;
  if (::setenv("GOMP_SPINCOUNT", "1000", 1) == 0) ::execv("/proc/self/exe", arguments);
}

int run(const std::vector<std::string>& words, char** arguments) {
  const Program program = tapeline_program();
  const ParsedLine line = parse_command_line(program, words);
  if (const auto* command = std::get_if<const Command*>(&line)) {
    if ((*command)->computes) wait_shortly(arguments);
    return (*command)->run();
  }
  if (const auto* help = std::get_if<HelpWanted>(&line)) {
    const std::size_t width = terminal_width();
    write_output(help->command == nullptr ? help_text(program, width)
                                          : help_text(program, *help->command, width));
  } else {
    write_output(version_text(program));
  }
  return exit_code::done;
}

/// Every failure is one line on standard error and an exit code.
int guarded_run(const std::vector<std::string>& words, char** arguments) {
  const std::string command = words.empty() ? std::string() : excerpt(words.front()) + ": ";
  try {
    return run(words, arguments);
  } catch (const Stopped&) {
    return exit_code::stopped;
  } catch (const ConfigError& error) {
    write_error(error.what());
    return exit_code::usage;
  } catch (const MemoryError& error) {
    write_error(command + error.what());
  } catch (const std::bad_alloc&) {
    write_error(command + "there is not enough memory; a smaller model, length, batch or text may fit");
  } catch (const std::filesystem::filesystem_error& error) {
    write_error(fmt::format("cannot use \"{}\": {}", error.path1().string(), error.code().message()));
  } catch (const std::exception& error) {
    write_error(error.what());
  }
  return exit_code::failed;
}

/// A standard stream that is closed would be given to the next file that is opened, and messages would land
/// in it. So each stands on something that refuses: whoever needs it gets an error.
void occupy_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    // The lowest free number is this one. If it cannot be had, there is nothing to say it on.
    if (::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY) != descriptor) std::_Exit(1);
  }
}

}  // namespace
}  // namespace tapeline

int main(int argc, char** argv) {
  tapeline::occupy_standard_streams();
  // A file-size limit and a reader who has left are errors of the write, not the end of a training run.
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  return tapeline::guarded_run(std::vector<std::string>(argv + 1, argv + argc), argv);
}
