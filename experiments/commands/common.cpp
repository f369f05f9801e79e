#include "experiments/commands/common.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "core/error.h"
#include "core/excerpt.h"
#include "core/kernels/openblas.h"
#include "data/source.h"
#include "layers/positional/kinds_of_build.h"
#include "train/config_table.h"
#include "train/log.h"
#include "train/preset.h"

namespace tapeline {

void OutputOptions::add_to(Command& command, bool results) {
  if (results) {
    command.options.push_back({.name = "--json", .help = "print results as JSON", .target = &json});
  }
  command.options.push_back(
      {.name = "-q,--quiet", .help = "no progress, warnings and errors only", .target = &quiet});
  command.options.push_back({.name = "-v,--verbose",
                             .help = "say more about what is done",
                             .target = &verbose,
                             .excludes = "--quiet"});
}

void OutputOptions::set_up() const {
  set_up_log(quiet ? LogLevel::quiet : verbose ? LogLevel::verbose : LogLevel::normal);
}

void OutputOptions::set_up_computing() const {
  set_up();
  const std::string warning = openblas_warning();
  if (!warning.empty()) spdlog::warn("{}", warning);
}

Option checkpoint_word(std::string& target) {
  return {.name = "CHECKPOINT",
          .help = "a checkpoint file, or a run folder (its latest checkpoint)",
          .target = &target,
          .required = true,
          .path = Option::Path::file};
}

void ConfigOptions::add_model_to(Command& command) {
  std::string aims;
  std::vector<std::string> names;
  for (const Preset& preset : presets()) {
    aims += fmt::format("{}{} ({})", aims.empty() ? "" : "; ", preset.name, preset.aim);
    names.emplace_back(preset.name);
  }
  std::vector<std::string> keys;
  for (const ConfigKey& key : config_keys()) {
    keys.push_back(key.name + '=');
    std::vector<std::string> values = key.choices;
    if (std::holds_alternative<bool>(key.initial)) values = {"true", "false"};
    for (const std::string& value : values) keys.push_back(fmt::format("{}={}", key.name, value));
  }
  command.options.push_back({.name = "CONFIG",
                             .help = "a TOML file with keys that differ from the preset",
                             .target = &file_,
                             .path = Option::Path::file});
  command.options.push_back({.name = "--preset",
                             .value = "NAME",
                             .help = fmt::format("what to start from: {}; default {}", aims, default_preset),
                             .target = &preset_,
                             .offers = names});
  command.options.push_back({.name = "--set",
                             .value = "KEY=VALUE",
                             .help = "any config keys: --set model.width=256 train.steps=900",
                             .target = &sets_,
                             .offers = keys});
}

bool ConfigOptions::take_file(const std::string& file) {
  if (!file_.empty()) return false;
  file_ = file;
  return true;
}

void ConfigOptions::add_to(Command& command) {
  add_model_to(command);
  std::vector<std::string> corpora;
  for (const NamedCorpus& corpus : named_corpora()) corpora.emplace_back(corpus.name);
  add_key(command, "--text", "data.source", "PATH",
          "the text: a named corpus (kjv), a file, a folder, - for standard input", corpora);
  command.options.back().path = Option::Path::file;
  add_work_to(command);
}

void ConfigOptions::add_without_text_to(Command& command) {
  add_model_to(command);
  add_work_to(command);
}

void ConfigOptions::add_work_to(Command& command) {
  add_key(command, "--seed", "train.seed", "N", "seed of weights, order and dropout");
  add_key(command, "--threads", "train.threads", "N", "threads to use; 0: all cores");
  command.options.push_back({.name = "--dry-run",
                             .help = "print the resolved config, parameters, work, memory and time, and stop",
                             .target = &dry_run_});
}

void ConfigOptions::add_key(Command& command, const std::string& flag, const std::string& key,
                            const std::string& value_name, const std::string& help,
                            const std::vector<std::string>& offers) {
  command.options.push_back({.name = flag,
                             .value = value_name,
                             .help = help,
                             .target =
                                 [this, flag, key](const std::string& value) {
                                   flags_.push_back({key, value, flag});
                                 },
                             .offers = offers});
}

void ConfigOptions::add_switch(Command& command, const std::string& flag, const std::string& key,
                               const std::string& value, const std::string& help) {
  Switch& made = switches_.emplace_back(Switch{false, {key, value, flag}});
  command.options.push_back({.name = flag, .help = help, .target = &made.given});
}

std::vector<Assignment> ConfigOptions::given_flags() const {
  std::vector<Assignment> given = flags_;
  for (const Switch& one : switches_) {
    if (one.given) given.push_back(one.sets);
  }
  return given;
}

ResolvedConfig ConfigOptions::resolve(const std::string& otherwise,
                                      const std::optional<ResolvedConfig>& start) const {
  const bool stored = file_.empty() && preset_.empty() && !otherwise.empty();
  ConfigSources sources{.start = stored || names_preset() ? std::nullopt : start,
                        .preset = preset_,
                        .file = stored ? otherwise : file_,
                        .file_is_stored = stored,
                        .environment = environment_settings(),
                        .sets = {},
                        .flags = given_flags()};
  for (const std::string& text : sets_) sources.sets.push_back(read_assignment(text, "--set"));
  return resolve_config(sources);
}

std::string ConfigOptions::name() const {
  if (!file_.empty()) {
    const std::string stem = std::filesystem::path(file_).stem().string();
    if (!stem.empty()) return stem;
  }
  return preset_name();
}

std::string ConfigOptions::preset_name() const {
  return preset_.empty() ? std::string(default_preset) : preset_;
}

std::vector<std::string> encoding_names() { return {built_kinds().begin(), built_kinds().end()}; }

std::string example_encodings(const std::vector<std::string>& wanted) {
  const std::vector<std::string> built = encoding_names();
  std::vector<std::string> shown;
  for (const std::string& name : wanted) {
    if (std::ranges::find(built, name) != built.end()) shown.push_back(name);
  }
  return shown.empty() ? built.front() : fmt::format("{}", fmt::join(shown, ","));
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
