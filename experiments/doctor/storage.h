#pragma once

#include <filesystem>

#include "experiments/doctor/finding.h"

namespace tapeline {

/// The folder that runs are written to, or the nearest one above it that is there: whether files can be made,
/// flushed and locked in it, and the space left. Nothing stays behind.
Findings examine_storage(const std::filesystem::path& out);

}  // namespace tapeline
