#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "core/index.h"

namespace tapeline {

/// Where a value of the command line goes. A flag has a bool, what may be given several times a vector; a
/// function is called with the text of each value.
using OptionTarget = std::variant<bool*, std::string*, Index*, std::uint64_t*, double*,
                                  std::vector<std::string>*, std::function<void(const std::string&)>>;

/// One option, flag, or word by its place ("positional") of a command.
struct Option {
  std::string name;        ///< "--out", "-q,--quiet"; a word by its place is in capitals: "CHECKPOINT"
  std::string value = {};  ///< what the help calls the value: "DIR"; empty for flags and words
  std::string help;
  OptionTarget target;  ///< must outlive the reading: commands keep it in what `run` holds
  bool required = false;
  std::string excludes = {};               ///< the long name of a flag that cannot be given too
  std::vector<std::string> offers = {};    ///< values that a shell completes; others may be right as well
  bool list = false;                       ///< several of the offers may stand in one value, between commas
  enum class Path { none, file, folder };  ///< or paths: a folder also stands where a file is offered
  Path path = Path::none;

  bool is_flag() const { return std::holds_alternative<bool*>(target); }
  bool is_word() const { return !name.starts_with('-'); }
  bool repeats() const { return std::holds_alternative<std::vector<std::string>*>(target); }
  /// Whether its values are KEY=VALUE: several may then stand behind it.
  bool assigns() const { return repeats() && value == "KEY=VALUE"; }
  /// Whether `word` is this flag, by its long name or its short one.
  bool is_called(const std::string& word) const {
    return !is_word() && !word.empty() && (word == long_name() || word == short_name());
  }
  /// "--quiet" of "-q,--quiet".
  std::string long_name() const { return name.substr(name.find("--") == name.npos ? 0 : name.find("--")); }
  /// "-q" of "-q,--quiet"; empty when there is none.
  std::string short_name() const { return name.find(',') == name.npos ? "" : name.substr(0, name.find(',')); }
};

/// A command as plain data: the parser, the help, the manual page and the shells' completions are made of it.
struct Command {
  std::string name;
  std::string description;                ///< one line, without a full stop
  std::vector<std::string> examples;      ///< whole lines
  std::function<int()> run;               ///< returns an exit code
  bool computes = false;                  ///< its threads have products to share
  std::vector<Option> options = {};       ///< words by their place first
  std::vector<std::string> details = {};  ///< paragraphs of the manual page
};

/// The program: its commands in the order of the help.
struct Program {
  std::string name;
  std::string version;
  std::string description;
  std::string example;
  std::vector<Command> commands;
};

}  // namespace tapeline
