#include "experiments/doctor/memory.h"

#include "core/memory.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

#include "experiments/doctor/cgroup.h"

namespace tapeline {
namespace {

constexpr double too_little_memory = 0.2 * gigabyte;  // the smallest preset with its libraries
constexpr double tight_memory = gigabyte;             // the default preset has room

double free_bytes() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("MemAvailable:")) return std::strtod(line.c_str() + 13, nullptr) * 1024;
  }
  return physical_memory_bytes();
}

}  // namespace

Finding examine_memory() {
  double usable = free_bytes();
  std::string found =
      fmt::format("{:.1f} GB, {:.1f} of them free", physical_memory_bytes() / gigabyte, usable / gigabyte);
  if (const auto limit = cgroup_limits().memory_bytes; limit && *limit < physical_memory_bytes()) {
    usable = std::min(usable, *limit);
    found += fmt::format("; the control group allows {:.1f}", *limit / gigabyte);
  }
  rlimit space{};
  std::string mend = "end other programs, or train a smaller model: --preset smoke";
  if (::getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) {
    const auto limit = static_cast<double>(space.rlim_cur);
    found += fmt::format("; ulimit -v allows {:.1f}", limit / gigabyte);
    if (limit < usable) mend = "ulimit -v unlimited";
    usable = std::min(usable, limit);
  }
  if (usable < too_little_memory)
    return {"memory", Finding::State::problem, found + ": too little to train", mend};
  if (usable < tight_memory)
    return {"memory", Finding::State::note, found + ": enough for small models", mend};
  return all_well("memory", found);
}

}  // namespace tapeline
