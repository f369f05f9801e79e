#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
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
#include "experiments/commands/bench.h"
#include "experiments/commands/command.h"
#include "experiments/commands/compare.h"
#include "experiments/commands/doctor.h"
#include "experiments/commands/encodings.h"
#include "experiments/commands/evaluate.h"
#include "experiments/commands/generate.h"
#include "experiments/commands/inspect.h"
#include "experiments/commands/prepare.h"
#include "experiments/commands/train.h"
#include "experiments/output.h"
#include "layers/positional/registry.h"
#include "train/nearest_name.h"
#include "train/signals.h"

namespace tapeline {
namespace {

/// The commands, in the order of --help: one line each.
void add_commands(CLI::App& app, Invocation& invocation) {
  add_compare_command(app, invocation);
  add_train_command(app, invocation);
  add_evaluate_command(app, invocation);
  add_generate_command(app, invocation);
  add_inspect_command(app, invocation);
  add_prepare_command(app, invocation);
  add_encodings_command(app, invocation);
  add_bench_command(app, invocation);
  add_doctor_command(app, invocation);
  refuse_empty_values(app);
}

std::string version_text() {
  std::vector<std::string_view> kinds;
  for (const EncodingKind& kind : encoding_kinds()) kinds.push_back(kind.name);
  return fmt::format("tapeline {}\npositional encodings: {}\n", TAPELINE_VERSION, fmt::join(kinds, ", "));
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  return names;
}

/// The first word must be a command or one of the few flags of the program itself.
void check_first_word(const CLI::App& app, const std::vector<std::string>& words) {
  const std::vector<std::string> names = command_names(app);
  require<ConfigError>(!words.empty(), "no command is given; there are {}; tapeline --help says more",
                       fmt::join(names, ", "));
  const std::string& word = words.front();
  if (word.starts_with('-') || std::ranges::find(names, word) != names.end()) return;
  const std::string nearest = nearest_name(word, names);
  fail<ConfigError>(
      "there is no command \"{}\"{}", excerpt(word),
      nearest.empty() ? fmt::format("; there are {}", fmt::join(names, ", ")) : did_you_mean(nearest));
}

/// `tapeline train`: what --help is asked of.
std::string path_of(const CLI::App& command) {
  return command.get_parent() == nullptr ? "tapeline" : "tapeline " + command.get_name();
}

[[noreturn]] void refuse_extra_word(const CLI::App& command) {
  const std::vector<std::string> left = command.remaining(true);
  std::string word = left.empty() ? std::string() : left.front();
  for (const std::string& candidate : left) {
    if (candidate.starts_with('-') && candidate.size() > 1) {
      word = candidate.substr(0, candidate.find('='));
      break;
    }
  }
  const std::string path = path_of(command);
  if (!word.starts_with('-'))
    fail<ConfigError>("\"{}\" is one word too many; see {} --help", excerpt(word), path);
  std::vector<std::string> flags;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  const std::string nearest = word.starts_with("--") ? nearest_name(word, flags) : std::string();
  fail<ConfigError>("there is no flag \"{}\" of {}{}", excerpt(word), path,
                    nearest.empty() ? fmt::format("; see {} --help", path) : did_you_mean(nearest));
}

/// Reads the command line; false when that was all (--help, --version).
bool read_command_line(CLI::App& app, const std::vector<std::string>& words) {
  check_first_word(app, words);
  const auto command = [&]() -> const CLI::App& {
    const auto chosen = app.get_subcommands();
    return chosen.empty() ? app : *chosen.front();
  };
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 reads from the back
    return true;
  } catch (const CLI::CallForHelp&) {
    write_output(app.help());
  } catch (const CLI::CallForVersion&) {
    write_output(version_text());
  } catch (const CLI::ExtrasError&) {
    refuse_extra_word(command());
  } catch (const CLI::ParseError& error) {
    fail<ConfigError>("{}; see {} --help", excerpt(error.what(), 200), path_of(command()));
  }
  return false;
}

int run(const std::vector<std::string>& words) {
  CLI::App app("Measures how far past its training length a Transformer still works.", "tapeline");
  app.set_version_flag("--version", std::string(), "the version and the encodings of this build");
  app.footer("Example:\n  tapeline encodings\nOne command in full: tapeline COMMAND --help");
  app.require_subcommand(0, 1);
  Invocation invocation;
  add_commands(app, invocation);
  if (!read_command_line(app, words)) return exit_code::done;
  require<ConfigError>(invocation.run != nullptr, "no command is given; tapeline --help lists them");
  return invocation.run();
}

/// Every failure is one line on standard error and an exit code.
int guarded_run(const std::vector<std::string>& words) {
  const std::string command = words.empty() ? std::string() : excerpt(words.front()) + ": ";
  try {
    return run(words);
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
  return tapeline::guarded_run(std::vector<std::string>(argv + 1, argv + argc));
}
