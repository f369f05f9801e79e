#include "experiments/commands/command.h"

namespace tapeline {

CLI::App& add_command(CLI::App& app, Invocation& invocation, const std::string& name,
                      const std::string& description, const std::string& example, std::function<int()> run) {
  CLI::App* command = app.add_subcommand(name, description);
  command->footer("Example:\n  " + example);
  command->callback([&invocation, run = std::move(run)] { invocation.run = run; });
  return *command;
}

}  // namespace tapeline
