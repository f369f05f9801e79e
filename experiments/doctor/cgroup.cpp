#include "experiments/doctor/cgroup.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace tapeline {
namespace {

namespace fs = std::filesystem;

/// The numbers of a small file; a word that is none ("max") counts as nothing.
std::optional<double> number(std::istream& file) {
  std::string word;
  if (!(file >> word)) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  if (end == word.c_str() || *end != '\0' || value <= 0) return std::nullopt;  // -1: no quota
  return value;
}
std::optional<double> number_in(const fs::path& path) {
  std::ifstream file(path);
  return number(file);
}

void lower(std::optional<double>& limit, std::optional<double> value) {
  if (value && (!limit || *value < *limit)) limit = value;
}

std::optional<double> ratio(std::optional<double> quota, std::optional<double> period) {
  return quota && period ? std::optional(*quota / *period) : std::nullopt;
}

void read_group(const fs::path& folder, CgroupLimits& limits) {
  std::ifstream two(folder / "cpu.max");
  const auto quota = number(two), period = number(two);
  lower(limits.cores, ratio(quota, period));
  lower(limits.cores, ratio(number_in(folder / "cpu.cfs_quota_us"), number_in(folder / "cpu.cfs_period_us")));
  lower(limits.memory_bytes, number_in(folder / "memory.max"));
  // Version 1 writes "no limit" as a number of about 2^63.
  const auto memory = number_in(folder / "memory.limit_in_bytes");
  if (memory && *memory < 1e18) lower(limits.memory_bytes, memory);
}

}  // namespace

CgroupLimits cgroup_limits(std::string_view membership, const fs::path& top) {
  CgroupLimits limits;
  while (!membership.empty()) {
    const std::size_t end = std::min(membership.find('\n'), membership.size());
    const std::string_view line = membership.substr(0, end);  // "4:cpu,cpuacct:/some/group", "0::/some/group"
    membership.remove_prefix(std::min(end + 1, membership.size()));
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const fs::path mounted = top / line.substr(first + 1, second - first - 1);
    fs::path group = fs::path(line.substr(second + 1)).relative_path();
    // Inside a container the path may be that of the machine outside: then only the top is there.
    for (;; group = group.parent_path()) {
      read_group(mounted / group, limits);
      if (group.empty()) break;
    }
  }
  return limits;
}

CgroupLimits cgroup_limits() {
  std::ifstream file("/proc/self/cgroup");
  return cgroup_limits(std::string(std::istreambuf_iterator<char>(file), {}), "/sys/fs/cgroup");
}

}  // namespace tapeline
