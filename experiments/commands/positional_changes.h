#pragma once

#include <memory>
#include <string>
#include <vector>

#include "experiments/command_line/command.h"
#include "layers/transformer.h"
#include "train/checkpoint.h"

namespace tapeline {

/// --positional KEY=VALUE …: what evaluate and generate change of a trained model's positions.
Option positional_option(std::vector<std::string>& target);

/// The checkpoint's own configuration with the changes of --positional made: each word is KEY=VALUE, relative
/// to [positional], or the name of a TOML file with such keys. Throws ConfigError for what cannot be changed
/// after training, with the reason.
ResolvedConfig with_positional_changes(const Checkpoint& checkpoint, const std::vector<std::string>& words);

/// What differs of the positions between the trained model and `config`.
std::vector<ConfigDifference> positional_differences(const Checkpoint& checkpoint, const Config& config);

/// The model that `config` describes with the checkpoint's weights. Throws ConfigError for settings that do
/// not fit together.
std::unique_ptr<Transformer> load_model(const Checkpoint& checkpoint, const Config& config);

}  // namespace tapeline
