#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/command_line/as_typed.h"
#include "experiments/command_line/completion.h"

namespace tapeline {
namespace {

/// The functions that the table of cases calls. Words are compared with what is typed so far.
constexpr const char* helpers = R"SHELL(
_@_words() { COMPREPLY+=($(compgen -W "$1" -- "$current")); }
_@_keys() {
  local found offer
  found=($(compgen -W "$1" -- "$key$current"))
  for offer in "${found[@]}"; do
    # The values of a key come once the key is there.
    if [[ -n $key ]]; then COMPREPLY+=("${offer#"$key"}"); elif [[ $offer == *= ]]; then COMPREPLY+=("$offer"); fi
  done
  [[ -n $key ]] || compopt -o nospace
}
_@_list() {
  local before= found offer
  [[ $current == *,* ]] && before=${current%,*},
  found=($(compgen -W "$1" -- "${current##*,}"))
  for offer in "${found[@]}"; do
    [[ ,$before == *,"$offer",* ]] || COMPREPLY+=("$before$offer")
  done
  compopt -o nospace
}
_@_files() {
  local found
  mapfile -t found < <(compgen -f -- "$current")
  COMPREPLY+=("${found[@]}")
  compopt -o filenames
}
_@_folders() {
  local found
  mapfile -t found < <(compgen -d -- "$current")
  COMPREPLY+=("${found[@]}")
  compopt -o filenames
}
)SHELL";

constexpr const char* beginning = R"SHELL(
_@() {
  local current=${COMP_WORDS[COMP_CWORD]} place=$((COMP_CWORD - 1)) equals= key= previous
  # "--out=runs" arrives as three words, and so does "model.tied=true".
  if [[ $current == = ]]; then
    current= equals=yes
  elif [[ ${COMP_WORDS[place]} == = ]]; then
    equals=yes
    ((place--))
  fi
  if [[ -n $equals && ${COMP_WORDS[place]} != -* ]]; then
    key=${COMP_WORDS[place]}=
    ((place--))
    [[ ${COMP_WORDS[place]} == = ]] && ((place--))
  fi
  previous=${COMP_WORDS[place]}
  COMPREPLY=()
)SHELL";

std::string named_after(const Program& program, std::string text) {
  for (std::size_t at = text.find("_@"); at != std::string::npos; at = text.find("_@", at)) {
    text.replace(at + 1, 1, program.name);
  }
  return text;
}

/// The calls that complete the value of an option, or a word by its place; empty where nothing is known.
std::string value_calls(const Program& program, const Option& option) {
  std::string calls;
  if (!option.offers.empty()) {
    const bool keys = option.offers.front().ends_with('=');
    calls += fmt::format("_{}_{} {}; ", program.name,
                         option.list ? "list"
                         : keys      ? "keys"
                                     : "words",
                         shell_quoted(fmt::format("{}", fmt::join(option.offers, " "))));
  }
  if (option.path != Option::Path::none) {
    calls += fmt::format("_{}_{}; ", program.name, option.path == Option::Path::file ? "files" : "folders");
  }
  return calls;
}

std::string command_cases(const Program& program, const Command& command) {
  std::string text, flags = "--help", words;
  for (const Option& option : command.options) {
    if (option.is_word()) {
      words += value_calls(program, option);
      continue;
    }
    flags += ' ' + option.long_name();
    if (option.is_flag()) continue;
    text += fmt::format("    {}:{}) {};;\n", command.name, option.long_name(), value_calls(program, option));
  }
  return text + fmt::format("    {}:*)\n      if [[ $current == -* ]]; then _{}_words '{}'; else {}fi ;;\n",
                            command.name, program.name, flags, words.empty() ? ":; " : words);
}

}  // namespace

std::string bash_completion(const Program& program) {
  std::string names = "--help --version", cases;
  for (const Command& command : program.commands) {
    names += ' ' + command.name;
    cases += command_cases(program, command);
  }
  return fmt::format("# bash completion of {}; written by: {} completion bash\n", program.name,
                     program.name) +
         named_after(program, helpers) + named_after(program, beginning) +
         fmt::format("  if ((COMP_CWORD == 1)); then\n    _{}_words '{}'\n    return\n  fi\n", program.name,
                     names) +
         fmt::format("  case ${{COMP_WORDS[1]}}:$previous in\n{}  esac\n}}\n\ncomplete -F _{} {}\n", cases,
                     program.name, program.name);
}

}  // namespace tapeline
