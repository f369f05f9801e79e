#include "experiments/commands/manual.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "core/error.h"
#include "core/excerpt.h"
#include "core/files.h"
#include "experiments/commands/common.h"
#include "experiments/commands/manual_pages.h"
#include "experiments/commands/program.h"
#include "experiments/exit_code.h"
#include "experiments/output.h"

namespace tapeline {
namespace {

struct ManualCommand {
  std::string page = "tapeline";
  std::string out;
  OutputOptions output;
};

int manual(const ManualCommand& command) {
  command.output.set_up();
  const std::vector<ManualPage> pages = manual_pages(tapeline_program());
  if (!command.out.empty()) {
    for (const ManualPage& page : pages) {
      const std::filesystem::path file = std::filesystem::path(command.out) / page.file_name();
      std::filesystem::create_directories(file.parent_path());
      write_file(file, page.text());
    }
    return exit_code::done;
  }
  std::vector<std::string> names;
  for (const ManualPage& page : pages) {
    names.push_back(std::filesystem::path(page.file_name()).stem().string());
    if (command.page != names.back() && "tapeline-" + command.page != names.back()) continue;
    write_output(page.text());
    return exit_code::done;
  }
  fail<ConfigError>("manual: there is no page \"{}\"; there are {}", excerpt(command.page),
                    fmt::join(names, ", "));
}

}  // namespace

Command manual_command() {
  const auto options = std::make_shared<ManualCommand>();
  Command command{
      .name = "manual",
      .description = "manual pages of the program, its commands and its configuration",
      .examples = {"tapeline manual config | man -l -", "tapeline manual --out ~/.local/share/man"},
      .run = [options] { return manual(*options); }};
  command.options = {{.name = "PAGE",
                      .help = "a command, or config: every key; default: the program",
                      .target = &options->page},
                     {.name = "--out",
                      .value = "DIR",
                      .help = "write all pages below this folder instead, in man1/ and man5/",
                      .target = &options->out,
                      .path = Option::Path::folder}};
  command.details = {
      "The pages are made of the same description as --help and the table of keys that reads a "
      "configuration. An installed program has them where man(1) looks."};
  options->output.add_to(command, false);
  return command;
}

}  // namespace tapeline
