#pragma once

#include "train/signals.h"

namespace tapeline {

/// What the program ends with. A command returns the first or the last; the others come from what it throws:
/// ConfigError is `usage`, Stopped is `stopped`, every other exception `failed`.
namespace exit_code {
inline constexpr int done = 0;
inline constexpr int failed = 1;                   ///< one clear line on standard error
inline constexpr int usage = 2;                    ///< a command line or config that cannot be obeyed
inline constexpr int stopped = status_of_stopped;  ///< 3: by a signal, after saving
inline constexpr int unmet = 4;                    ///< a check that was asked for did not hold
}  // namespace exit_code

}  // namespace tapeline
