#include "experiments/commands/positional_changes.h"

#include <fmt/ranges.h>

#include "core/error.h"
#include "core/excerpt.h"
#include "experiments/commands/common.h"
#include "train/config_derived.h"
#include "train/config_table.h"

namespace tapeline {
namespace {

constexpr std::string_view positional_prefix = "positional.";

void read_word(ResolvedConfig& config, const Checkpoint& checkpoint, const std::string& word) {
  if (word.find('=') == std::string::npos && word.ends_with(".toml")) {
    ConfigSources sources;
    sources.start = config;
    sources.file = word;
    config = resolve_config(sources);
    return;
  }
  const bool whole_key = word.starts_with(positional_prefix);
  const Assignment assignment =
      read_assignment(word, "--positional", whole_key ? std::string() : std::string(positional_prefix));
  const PositionalConfig& trained = config.config.positional;
  require<ConfigError>(assignment.key != "positional.kind" && acts_on_positions(trained, assignment.key),
                       "--positional {}: \"{}\" was trained with {} positions; only options of positional.{} "
                       "and what wraps any of them (positional.keys, positional.score, "
                       "positional.randomized.evaluation) can be changed afterwards",
                       excerpt(word), checkpoint.path().string(), trained.name(),
                       fmt::join(trained.kinds(), ", positional."));
  assign(config, assignment);
}

/// "rope.scaling=", "rope.scaling=ntk", …: what a shell completes.
std::vector<std::string> changeable_keys() {
  std::vector<std::string> keys;
  for (const ConfigKey& key : config_keys()) {
    if (!key.after_training || !key.name.starts_with(positional_prefix)) continue;
    const std::string name = key.name.substr(positional_prefix.size());
    keys.push_back(fmt::format("{}=", name));
    for (const std::string& choice : key.choices) keys.push_back(fmt::format("{}={}", name, choice));
  }
  return keys;
}

}  // namespace

Option positional_option(std::vector<std::string>& target) {
  return {.name = "--positional",
          .value = "KEY=VALUE",
          .help =
              "what can be changed after training, relative to [positional], one or several: "
              "rope.scaling=ntk rope.factor=auto; or a TOML file with a [positional] table",
          .target = &target,
          .offers = changeable_keys()};
}

ResolvedConfig with_positional_changes(const Checkpoint& checkpoint, const std::vector<std::string>& words) {
  ResolvedConfig config = checkpoint.config();
  for (const std::string& word : words) read_word(config, checkpoint, word);
  require_changeable(checkpoint.config().config, config.config, "--positional");
  return config;
}

std::vector<ConfigDifference> positional_differences(const Checkpoint& checkpoint, const Config& config) {
  std::vector<ConfigDifference> differences = config_difference(checkpoint.config().config, config);
  std::erase_if(differences,
                [](const ConfigDifference& one) { return !one.key.starts_with(positional_prefix); });
  return differences;
}

std::unique_ptr<Transformer> load_model(const Checkpoint& checkpoint, const Config& config) {
  auto model = std::make_unique<Transformer>(model_plan(config));
  checkpoint.load_weights(model->parameters());
  return model;
}

}  // namespace tapeline
