#pragma once

#include <list>
#include <string>
#include <vector>

#include "experiments/command_line/command.h"
#include "train/config_loader.h"

namespace tapeline {

/// --json, --quiet and --verbose.
struct OutputOptions {
  bool json = false;
  bool quiet = false;
  bool verbose = false;

  /// `results`: whether the command prints results, and so has --json.
  void add_to(Command& command, bool results = true);
  /// Sets the log's level; the first thing a command does when it runs.
  void set_up() const;
  /// For a command that computes: the same, and a word where the products would be slow for a reason that can
  /// be mended (openblas_warning()).
  void set_up_computing() const;
};

/// CHECKPOINT, which must be given: what evaluate, generate and inspect look at.
Option checkpoint_word(std::string& target);

/// Everything a Config is resolved from: CONFIG, --preset, --set, and flags of their own for some keys.
/// Must stay where it is between add_to() and the end of the parse.
class ConfigOptions {
 public:
  /// Adds CONFIG, --preset, --set, --text, --seed, --threads and --dry-run.
  void add_to(Command& command);
  /// The same but --text: for a command that makes up its own.
  void add_without_text_to(Command& command);
  /// Adds CONFIG, --preset and --set alone: for a command that computes nothing.
  void add_model_to(Command& command);
  /// Makes `file` the CONFIG where none was given; false: there is one.
  bool take_file(const std::string& file);
  /// CONFIG as it was given; empty: it was not.
  const std::string& file() const { return file_; }
  /// Adds a flag of its own for a key, stronger than --set: add_key(command, "--seeds", "compare.seeds", "N",
  /// "seeds"). Lists take commas: --encodings rope,alibi.
  void add_key(Command& command, const std::string& flag, const std::string& key,
               const std::string& value_name, const std::string& help,
               const std::vector<std::string>& offers = {});

  /// Adds a flag without a value that sets a key: add_switch(command, "--sweep", "compare.sweep", "0.5,1,2",
  /// "...").
  void add_switch(Command& command, const std::string& flag, const std::string& key, const std::string& value,
                  const std::string& help);

  /// Reads file and environment and resolves; without CONFIG and --preset from `otherwise`, when there is
  /// such a file (that of the run to go on with); without --preset from `start`, when it is given, in the
  /// place of a preset. Throws ConfigError.
  ResolvedConfig resolve(const std::string& otherwise = "",
                         const std::optional<ResolvedConfig>& start = std::nullopt) const;
  bool names_preset() const { return !preset_.empty(); }
  /// The preset that it starts from, given or by default.
  std::string preset_name() const;
  /// For the default --out: the preset's name, or the stem of the config file when there is one ("toy").
  std::string name() const;
  bool dry_run() const { return dry_run_; }
  /// Whether the command line says nothing of what the configuration is.
  bool says_nothing() const {
    return file_.empty() && preset_.empty() && sets_.empty() && given_flags().empty();
  }

 private:
  void add_work_to(Command& command);
  std::vector<Assignment> given_flags() const;
  std::string file_;
  std::string preset_;
  std::vector<std::string> sets_;
  struct Switch {
    bool given = false;
    Assignment sets;
  };
  std::vector<Assignment> flags_;
  std::list<Switch> switches_;  // which stay where they are
  bool dry_run_ = false;
};

/// The names of the encodings in this build, in the order of the registry.
std::vector<std::string> encoding_names();

/// For the examples of help texts: those of `wanted` that are in this build, with commas between them; else
/// its first.
std::string example_encodings(const std::vector<std::string>& wanted);

/// Splits "KEY=VALUE" as given to `flag` ("--set", "--positional"); `prefix` is put before the key
/// ("positional."). Throws ConfigError without "=".
Assignment read_assignment(const std::string& text, const std::string& flag, const std::string& prefix = "");

}  // namespace tapeline
