#include "experiments/bench/resident_rise.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

namespace tapeline {
namespace {

/// A line of /proc/self/status in kB ("VmRSS:"), as bytes.
std::optional<double> status_bytes(std::string_view name) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name)) return std::strtod(line.c_str() + name.size(), nullptr) * 1024;
  }
  return std::nullopt;
}

bool reset_highest_resident() {
  std::ofstream file("/proc/self/clear_refs");
  file << 5 << std::flush;
  return file.good();
}

}  // namespace

ResidentRise::ResidentRise() {
  if (reset_highest_resident()) before_ = status_bytes("VmRSS:");
}

std::optional<double> ResidentRise::bytes() const {
  const std::optional<double> highest = status_bytes("VmHWM:");
  if (!before_ || !highest) return std::nullopt;
  return std::max(0.0, *highest - *before_);
}

}  // namespace tapeline
