#include "experiments/commands/command.h"

#include <fmt/format.h>

namespace tapeline {

CLI::App& add_command(CLI::App& app, Invocation& invocation, const std::string& name,
                      const std::string& description, const std::string& example, std::function<int()> run) {
  CLI::App* command = app.add_subcommand(name, description);
  command->footer("Example:\n  " + example);
  command->callback([&invocation, run = std::move(run)] { invocation.run = run; });
  return *command;
}

void refuse_empty_values(CLI::App& app) {
  for (CLI::App* command : app.get_subcommands(nullptr)) {
    for (CLI::Option* option : command->get_options()) {
      if (option->get_items_expected_max() == 0) continue;  // a flag
      const char* remedy = option->get_required() ? "give one" : "give one, or leave it out";
      // What transforms goes before all checks: theirs would speak of other things.
      option->transform(CLI::Validator(
          [remedy](const std::string& value) {
            return value.empty() ? fmt::format("the value is empty; {}", remedy) : std::string();
          },
          ""));
    }
  }
}

}  // namespace tapeline
