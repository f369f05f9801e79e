#include "experiments/command_line/parser.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <type_traits>

#include "core/error.h"
#include "core/excerpt.h"
#include "train/nearest_name.h"

namespace tapeline {
namespace {

/// Reads a number whole and within its range: the library's own conversion cuts what is too large.
template <class Number>
std::function<void(const std::string&)> number_reader(const Option& option, Number* target) {
  const std::string flag = option.name.substr(option.name.rfind(',') + 1);
  return [flag, target](const std::string& text) {
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, *target);
    const char* expected = std::is_floating_point_v<Number> ? "a number"
                           : std::is_signed_v<Number>       ? "a whole number"
                                                            : "a whole number from 0 on";
    require<ConfigError>(error != std::errc::result_out_of_range, "{} {}: that is out of range for {}", flag,
                         excerpt(text), expected);
    require<ConfigError>(error == std::errc{} && stop == end, "{} {}: expected {}", flag, excerpt(text),
                         expected);
  };
}

void bind(CLI::App& app, const Option& option) {
  CLI::Option* bound = std::visit(
      [&](const auto& target) -> CLI::Option* {
        using Target = std::decay_t<decltype(target)>;
        if constexpr (std::is_same_v<Target, bool*>) {
          return app.add_flag(option.name, *target)->disable_flag_override();
        } else if constexpr (std::is_same_v<Target, std::function<void(const std::string&)>>) {
          return app.add_option_function<std::string>(option.name, target);
        } else if constexpr (std::is_arithmetic_v<std::remove_pointer_t<Target>>) {
          return app.add_option_function<std::string>(option.name, number_reader(option, target));
        } else {
          return app.add_option(option.name, *target);
        }
      },
      option.target);
  bound->required(option.required);
  if (option.repeats() && !option.is_word())
    bound->allow_extra_args(false);  // else it takes the words behind
  if (!option.excludes.empty()) bound->excludes(app.get_option(option.excludes));
  if (option.is_flag()) return;
  const char* remedy = option.required ? "give one" : "give one, or leave it out";
  // What transforms goes before the conversion, which would speak of other things.
  bound->transform(CLI::Validator(
      [remedy](const std::string& value) {
        return value.empty() ? fmt::format("the value is empty; {}", remedy) : std::string();
      },
      ""));
}

/// "model.width=256": no word by its place looks like that.
bool is_assignment(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos || word.starts_with('-')) return false;
  const std::string_view key = std::string_view(word).substr(0, equals);
  return key.find('.') != key.npos && std::ranges::all_of(key, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
         });
}

/// Several values behind one flag, `--set model.width=64 train.steps=9`, each with a flag of its own.
std::vector<std::string> with_repeated_flags(const Command& command, const std::vector<std::string>& words) {
  std::vector<std::string> result;
  std::string flag;  // whose values may go on
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (!flag.empty() && is_assignment(word)) {
      result.insert(result.end(), {flag, word});
      continue;
    }
    flag.clear();
    result.push_back(word);
    for (const Option& option : command.options) {
      if (!option.assigns()) continue;
      if (word.starts_with(option.long_name() + "=")) flag = option.long_name();
      if (word != option.long_name() || i + 1 == words.size()) continue;
      flag = word;
      result.push_back(words[++i]);
      break;
    }
  }
  return result;
}

std::vector<std::string> command_names(const Program& program) {
  std::vector<std::string> names;
  for (const Command& command : program.commands) names.push_back(command.name);
  return names;
}

/// The first word must be a command or one of the few flags of the program itself.
void check_first_word(const Program& program, const std::vector<std::string>& words) {
  const std::vector<std::string> names = command_names(program);
  require<ConfigError>(!words.empty(), "no command is given; there are {}; {} --help says more",
                       fmt::join(names, ", "), program.name);
  const std::string& word = words.front();
  if (std::ranges::find(names, word) != names.end()) return;
  if (word == "-h" || word == "--help" || word == "--version") return;
  if (word.starts_with('-')) {
    const auto command = std::ranges::find_first_of(words, names);
    require<ConfigError>(command == words.end(),
                         "{} stands before the command; write {} {} first, then what is said to it",
                         excerpt(word), program.name, command == words.end() ? "" : *command);
    return;
  }
  const std::string nearest = nearest_name(word, names);
  fail<ConfigError>(
      "there is no command \"{}\"{}", excerpt(word),
      nearest.empty() ? fmt::format("; there are {}", fmt::join(names, ", ")) : did_you_mean(nearest));
}

/// `path`: what --help is asked of, as in "tapeline train".
[[noreturn]] void refuse_extra_word(const CLI::App& app, const Command* command, const std::string& path) {
  const std::vector<std::string> left = app.remaining(true);
  std::string word = left.empty() ? std::string() : left.front();
  for (const std::string& candidate : left) {
    if (candidate.starts_with('-') && candidate.size() > 1) {
      word = candidate.substr(0, candidate.find('='));
      break;
    }
  }
  if (!word.starts_with('-')) {
    if (command != nullptr && word.find('=') != std::string::npos) {
      for (const Option& option : command->options) {
        if (option.assigns())
          fail<ConfigError>("\"{0}\" is one word too many; a value of a key is given by {1} {0}",
                            excerpt(word), option.long_name());
      }
    }
    fail<ConfigError>("\"{}\" is one word too many; see {} --help", excerpt(word), path);
  }
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  const std::string nearest = word.starts_with("--") ? nearest_name(word, flags) : std::string();
  fail<ConfigError>("there is no flag \"{}\" of {}{}", excerpt(word), path,
                    nearest.empty() ? fmt::format("; see {} --help", path) : did_you_mean(nearest));
}

/// A value that was forgotten, so that the flag behind it would be taken for one; --prompt=--seed is meant.
void refuse_forgotten_values(const Command& command, const std::vector<std::string>& words) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string &before = words[i - 1], &word = words[i];
    const auto option = std::ranges::find_if(command.options, [&before](const Option& candidate) {
      return !candidate.is_flag() && candidate.is_called(before);
    });
    const bool flag_follows = std::ranges::any_of(command.options, [&word](const Option& other) {
      return !other.is_word() && other.long_name() == word;
    });
    if (option == command.options.end() || !flag_follows) continue;
    fail<ConfigError>("{}: the value is missing: {} is a flag; {}={} if it is meant", before, word,
                      option->long_name(), word);
  }
}

/// What stands twice and may not, flags with a value and others without: the library's own words are not
/// those of the person who typed them.
void refuse_wrong_counts(const Command& command, const std::vector<std::string>& words) {
  for (const Option& option : command.options) {
    if (option.is_word()) continue;
    const auto names = [&option](const std::string& word) { return option.is_called(word); };
    const auto assigns = [&option](const std::string& word) {
      return word.starts_with(option.long_name() + "=");
    };
    require<ConfigError>(!option.is_flag() || std::ranges::none_of(words, assigns),
                         "{} is a flag and takes no value", option.long_name());
    const auto given = std::ranges::count_if(words, names) + std::ranges::count_if(words, assigns);
    require<ConfigError>(option.repeats() || given < 2, "{} is given {} times; once is meant",
                         option.long_name(), given);
    require<ConfigError>(option.is_flag() || words.empty() || !names(words.back()),
                         "{} stands last, and the value is missing: {} {}", option.long_name(),
                         option.long_name(), option.value);
  }
}

}  // namespace

ParsedLine parse_command_line(const Program& program, const std::vector<std::string>& words) {
  check_first_word(program, words);
  CLI::App app("", program.name);
  app.require_subcommand(0, 1);  // a later word that is a command's name is a word
  app.set_version_flag("--version", std::string());
  for (const Command& command : program.commands) {
    CLI::App* bound = app.add_subcommand(command.name);
    for (const Option& option : command.options) bind(*bound, option);
  }

  const auto chosen = [&]() -> const Command* {
    const auto found = std::ranges::find_if(
        program.commands, [&](const Command& command) { return app.got_subcommand(command.name); });
    return found == program.commands.end() ? nullptr : &*found;
  };
  const auto path = [&] {
    return chosen() == nullptr ? program.name : fmt::format("{} {}", program.name, chosen()->name);
  };
  try {
    const auto command = std::ranges::find(program.commands, words.front(), &Command::name);
    if (command != program.commands.end()) refuse_forgotten_values(*command, words);
    const std::vector<std::string> all =
        command == program.commands.end() ? words : with_repeated_flags(*command, words);
    app.parse(std::vector<std::string>(all.rbegin(), all.rend()));  // CLI11 reads from the back
  } catch (const CLI::CallForHelp&) {
    return HelpWanted{chosen()};
  } catch (const CLI::CallForVersion&) {
    return VersionWanted{};
  } catch (const CLI::ExtrasError&) {
    refuse_extra_word(chosen() == nullptr ? app : *app.get_subcommand(chosen()->name), chosen(), path());
  } catch (const CLI::ParseError& error) {
    if (chosen() != nullptr) refuse_wrong_counts(*chosen(), words);
    fail<ConfigError>("{}; see {} --help", excerpt(error.what(), 200), path());
  }
  require<ConfigError>(chosen() != nullptr, "no command is given; {} --help lists them", program.name);
  return chosen();
}

}  // namespace tapeline
