#pragma once

#include "train/config_loader.h"

namespace tapeline {

/// Whether the values fit together (each alone was checked when it was read). Throws ConfigError that names
/// the keys, their values and where those come from.
void validate(const ResolvedConfig& resolved);
/// The same for the model, data and training of one variant, without looking at [compare].
void validate_run(const ResolvedConfig& resolved);

}  // namespace tapeline
