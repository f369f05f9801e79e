#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/command_line/as_typed.h"
#include "experiments/command_line/completion.h"

namespace tapeline {
namespace {

/// What a specification of _arguments would take for syntax.
std::string escaped(const std::string& text, std::string_view special) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

/// ":MESSAGE:ACTION" of a value.
std::string value_specification(const Option& option) {
  const char* paths = option.path == Option::Path::folder ? "_files -/" : "_files";
  const std::string offers = escaped(fmt::format("{}", fmt::join(option.offers, " ")), ":");
  std::string action;
  if (option.list) {
    action = fmt::format("_values -s , value {}", offers);
  } else if (!option.offers.empty() && option.offers.front().ends_with('=')) {
    action = fmt::format("{{compadd -S '' -- {}}}", offers);
  } else if (!option.offers.empty() && option.path != Option::Path::none) {
    action = fmt::format("{{compadd -- {}; {}}}", offers, paths);
  } else if (!option.offers.empty()) {
    action = fmt::format("({})", offers);
  } else if (option.path != Option::Path::none) {
    action = paths;
  } else {
    action = " ";
  }
  return fmt::format(":{}:{}", escaped(option.is_word() ? option.name : option.value, ":"), action);
}

/// One option, for _arguments; two specifications where it has a short name too.
std::string specifications(const Option& option) {
  if (option.is_word()) {
    return shell_quoted((option.repeats() ? "*" : option.required ? "" : ":") + value_specification(option));
  }
  const std::string help = fmt::format("[{}]", escaped(option.help, "[]\\:"));
  if (!option.is_flag()) {
    return shell_quoted((option.repeats() ? "*" : "") + option.long_name() + '=' + help +
                        value_specification(option));
  }
  if (option.short_name().empty()) return shell_quoted(option.long_name() + help);
  const std::string once =
      fmt::format("({} {} {})", option.short_name(), option.long_name(), option.excludes);
  return shell_quoted(once + option.short_name() + help) + " \\\n            " +
         shell_quoted(once + option.long_name() + help);
}

}  // namespace

std::string zsh_completion(const Program& program) {
  std::string names, cases;
  for (const Command& command : program.commands) {
    names += "        " + shell_quoted(command.name + ":" + escaped(command.description, ":")) + '\n';
    cases += fmt::format("        {})\n          _arguments -S \\\n", command.name);
    for (const Option& option : command.options) cases += "            " + specifications(option) + " \\\n";
    cases += "            '(- *)'{-h,--help}'[show the help]'\n          ;;\n";
  }
  return fmt::format(R"SHELL(#compdef {0}
# zsh completion of {0}; written by: {0} completion zsh

_{0}() {{
  local curcontext=$curcontext state line
  typeset -A opt_args
  _arguments -C \
    '(- *)'{{-h,--help}}'[show the help]' \
    '(- *)--version[show the version]' \
    '1: :->command' \
    '*:: :->arguments'
  case $state in
    command)
      local -a commands=(
{1}      )
      _describe command commands
      ;;
    arguments)
      case $words[1] in
{2}      esac
      ;;
  esac
}}

if [[ $funcstack[1] == _{0} ]]; then
  _{0} "$@"
else
  compdef _{0} {0}
fi
)SHELL",
                     program.name, names, cases);
}

}  // namespace tapeline
