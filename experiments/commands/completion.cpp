#include "experiments/command_line/completion.h"

#include <memory>
#include <string>

#include "core/error.h"
#include "core/excerpt.h"
#include "experiments/commands/common.h"
#include "experiments/commands/completion.h"
#include "experiments/commands/program.h"
#include "experiments/exit_code.h"
#include "experiments/output.h"

namespace tapeline {
namespace {

struct CompletionOptions {
  std::string shell;
  OutputOptions output;
};

int completion(const CompletionOptions& options) {
  options.output.set_up();
  const std::string& shell = options.shell;
  std::string (*script)(const Program&) = shell == "bash"   ? bash_completion
                                          : shell == "zsh"  ? zsh_completion
                                          : shell == "fish" ? fish_completion
                                                            : nullptr;
  require<ConfigError>(script != nullptr,
                       "completion: there is no script for \"{}\"; there are bash, zsh, fish",
                       excerpt(shell));
  write_output(script(tapeline_program()));
  return exit_code::done;
}

}  // namespace

Command completion_command() {
  const auto options = std::make_shared<CompletionOptions>();
  Command command{.name = "completion",
                  .description = "the script that lets a shell complete commands and options",
                  .examples = {"source <(tapeline completion bash)", "tapeline completion fish | source",
                               "tapeline completion zsh > ~/.zfunc/_tapeline"},
                  .run = [options] { return completion(*options); }};
  command.options = {{.name = "SHELL",
                      .help = "bash, zsh or fish; for zsh the folder of the file must stand in $fpath",
                      .target = &options->shell,
                      .required = true,
                      .offers = {"bash", "zsh", "fish"}}};
  command.details = {
      "An installed program has these scripts where the shells look for them. They know the commands, their "
      "options, and what is known of values beforehand: presets, encodings, keys of the configuration, "
      "paths."};
  options->output.add_to(command, false);
  return command;
}

}  // namespace tapeline
