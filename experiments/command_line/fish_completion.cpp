#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/command_line/completion.h"

namespace tapeline {
namespace {

std::string fish_quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + '\'';
}

/// What completes a value: ` -F`, ` -a 'rope alibi'`; empty where nothing is known.
std::string value_part(const Option& option) {
  std::string offers = fmt::format("{}", fmt::join(option.offers, " "));
  if (option.list) offers = fmt::format("(__fish_append , {})", offers);
  if (option.path == Option::Path::folder) offers += " (__fish_complete_directories)";
  return (option.path == Option::Path::file ? " -F" : "") +
         (offers.empty() ? "" : " -a " + fish_quoted(offers));
}

}  // namespace

std::string fish_completion(const Program& program) {
  std::string text = fmt::format(
      "# fish completion of {0}; written by: {0} completion fish\n\ncomplete -c {0} -f\n", program.name);
  const std::string first = fmt::format("complete -c {} -n __fish_use_subcommand", program.name);
  text += first + " -s h -l help -d 'show the help'\n" + first + " -l version -d 'show the version'\n";
  for (const Command& command : program.commands) {
    text += fmt::format("\n{} -a {} -d {}\n", first, command.name, fish_quoted(command.description));
    const std::string here =
        fmt::format("complete -c {} -n '__fish_seen_subcommand_from {}'", program.name, command.name);
    for (const Option& option : command.options) {
      if (option.is_word()) {
        const std::string part = value_part(option);
        if (!part.empty()) text += here + part + '\n';
        continue;
      }
      text += here;
      if (!option.short_name().empty()) text += " -s " + option.short_name().substr(1);
      text += " -l " + option.long_name().substr(2);
      if (!option.is_flag()) text += " -r" + value_part(option);
      text += " -d " + fish_quoted(option.help) + '\n';
    }
    text += here + " -s h -l help -d 'show the help'\n";
  }
  return text;
}

}  // namespace tapeline
