#include "experiments/commands/common.h"

#include <filesystem>

#include "core/error.h"
#include "core/excerpt.h"
#include "train/log.h"
#include "train/preset.h"

namespace tapeline {

void OutputOptions::add_to(CLI::App& command, bool results) {
  if (results) command.add_flag("--json", json, "print results as JSON")->disable_flag_override();
  CLI::Option* less = command.add_flag("-q,--quiet", quiet, "no progress, warnings and errors only");
  command.add_flag("-v,--verbose", verbose, "say more about what is done")->excludes(less);
}

void OutputOptions::set_up() const {
  set_up_log(quiet ? LogLevel::quiet : verbose ? LogLevel::verbose : LogLevel::normal);
}

void ConfigOptions::add_to(CLI::App& command) {
  command.add_option("CONFIG", file_, "a TOML file with keys that differ from the preset")->type_name("");
  std::string names;
  for (const Preset& preset : presets()) {
    names += fmt::format("{}{} ({})", names.empty() ? "" : "; ", preset.name, preset.aim);
  }
  command
      .add_option("--preset", preset_,
                  fmt::format("what to start from: {}; default {}", names, default_preset))
      ->type_name("NAME");
  command.add_option("--set", sets_, "any config key, as often as wanted: --set model.width=256")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);  // else it would take the words behind it too
  add_key(command, "--text", "data.source", "PATH",
          "the text: a named corpus (kjv), a file, a folder, - for standard input");
  add_key(command, "--seed", "train.seed", "N", "seed of weights, order and dropout");
  add_key(command, "--threads", "train.threads", "N", "threads to use; 0: all cores");
  command
      .add_flag("--dry-run", dry_run_,
                "print the resolved config, parameters, work, memory and time, and stop")
      ->disable_flag_override();
}

void ConfigOptions::add_key(CLI::App& command, const std::string& flag, const std::string& key,
                            const std::string& value_name, const std::string& help) {
  const auto store = [this, flag, key](const std::string& value) { flags_.push_back({key, value, flag}); };
  command.add_option_function<std::string>(flag, store, help)->type_name(value_name);
}

ResolvedConfig ConfigOptions::resolve(const std::string& otherwise) const {
  const std::string& file = file_.empty() && preset_.empty() ? otherwise : file_;
  ConfigSources sources{
      .preset = preset_, .file = file, .environment = environment_settings(), .sets = {}, .flags = flags_};
  for (const std::string& text : sets_) sources.sets.push_back(read_assignment(text, "--set"));
  return resolve_config(sources);
}

std::string ConfigOptions::name() const {
  if (!file_.empty()) {
    const std::string stem = std::filesystem::path(file_).stem().string();
    if (!stem.empty()) return stem;
  }
  return preset_.empty() ? std::string(default_preset) : preset_;
}

Assignment read_assignment(const std::string& text, const std::string& flag, const std::string& prefix) {
  const std::size_t equals = text.find('=');
  const auto trimmed = [](std::string part) {
    part.erase(0, part.find_first_not_of(" \t"));
    part.erase(part.find_last_not_of(" \t") + 1);
    return part;
  };
  require<ConfigError>(equals != std::string::npos && equals > 0,
                       "{} \"{}\": expected KEY=VALUE, as in {} {}", flag, excerpt(text), flag,
                       prefix.empty() ? "model.width=256" : "rope.base=500");
  return {prefix + trimmed(text.substr(0, equals)), trimmed(text.substr(equals + 1)), flag};
}

}  // namespace tapeline
