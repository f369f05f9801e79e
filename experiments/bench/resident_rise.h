#pragma once

#include <optional>

namespace tapeline {

/// By how much the resident memory of this process rises from here on, at its highest. Linux only, and where
/// /proc lets a process reset its own mark.
class ResidentRise {
 public:
  /// Looks at what is resident now (VmRSS) and resets the mark of the highest (VmHWM).
  ResidentRise();
  /// Up to now; nullopt where it cannot be had.
  std::optional<double> bytes() const;

 private:
  std::optional<double> before_;
};

}  // namespace tapeline
