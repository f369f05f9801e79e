#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace tapeline {

/// What the control groups of a container or service leave to this process; nothing where there is no limit.
struct CgroupLimits {
  std::optional<double> cores;  ///< computing time a second: quota over period
  std::optional<double> memory_bytes;
};

/// Versions 1 and 2; the smallest limit from this process's group up to the top. `membership`: the text of
/// /proc/self/cgroup; `top`: where the groups are mounted.
CgroupLimits cgroup_limits(std::string_view membership, const std::filesystem::path& top);
/// Of this process.
CgroupLimits cgroup_limits();

}  // namespace tapeline
