#include "experiments/command_line/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "experiments/table.h"

namespace tapeline {
namespace {

constexpr std::size_t indent = 2;
constexpr std::size_t gap = 2;
constexpr std::size_t narrowest_help = 24;  // of a narrower terminal the lines run over

using Entries = std::vector<std::pair<std::string, std::string>>;

/// A title and two columns; the second is broken into lines.
std::string section(const std::string& title, const Entries& entries, std::size_t width) {
  if (entries.empty()) return {};
  std::size_t first = 0;
  for (const auto& [form, help] : entries) first = std::max(first, display_width(form));
  const std::size_t taken = indent + first + gap;
  const std::size_t room = width == 0 ? 0 : std::max(narrowest_help, width - std::min(width, taken));
  std::string text = fmt::format("\n{}:\n", title);
  for (const auto& [form, help] : entries) {
    text += hanging(fmt::format("{:{}}{:<{}}", "", indent, form, first + gap), taken, help, room);
  }
  return text;
}

}  // namespace

std::string usage_line(const Program& program, const Command& command) {
  std::string line = fmt::format("{} {} [OPTIONS]", program.name, command.name);
  for (const Option& option : command.options) {
    if (option.is_flag() || !option.required || option.is_word()) continue;
    line += fmt::format(" {} {}", option.long_name(), option.value);
  }
  for (const Option& option : command.options) {
    if (!option.is_word()) continue;
    const std::string word = option.repeats() ? option.name + "..." : option.name;
    line += option.required ? " " + word : fmt::format(" [{}]", word);
  }
  return line;
}

std::string option_form(const Option& option) {
  const std::size_t comma = option.name.find(',');
  std::string form = option.name;
  if (comma != std::string::npos) form.insert(comma + 1, " ");
  if (!option.value.empty()) form += ' ' + option.value;
  return option.repeats() ? form + " ..." : form;
}

std::string help_text(const Program& program, std::size_t width) {
  Entries commands;
  for (const Command& command : program.commands) commands.emplace_back(command.name, command.description);
  return hanging("", 0, program.description, width) +
         fmt::format("\nUsage: {} COMMAND [OPTIONS]\n", program.name) + section("Commands", commands, width) +
         section("Options",
                 {{"-h, --help", "this text; of a command: tapeline COMMAND --help"},
                  {"--version", "the version and the encodings of this build"}},
                 width) +
         fmt::format("\nExample:\n  {}\n", program.example);
}

std::string help_text(const Program& program, const Command& command, std::size_t width) {
  Entries words, options;
  for (const Option& option : command.options) {
    (option.is_word() ? words : options).emplace_back(option_form(option), option.help);
  }
  options.emplace_back("-h, --help", "this text");
  std::string examples;
  for (const std::string& example : command.examples) examples += "  " + example + '\n';
  return hanging("", 0, fmt::format("{} {}: {}", program.name, command.name, command.description), width) +
         fmt::format("\nUsage: {}\n", usage_line(program, command)) + section("Words", words, width) +
         section("Options", options, width) +
         fmt::format("\n{}:\n{}", command.examples.size() == 1 ? "Example" : "Examples", examples);
}

}  // namespace tapeline
