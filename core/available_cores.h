#pragma once

namespace tapeline {

/// How many processors this process may run on: those of the machine, less what its affinity leaves out
/// (taskset, a container's cpuset). At least 1. A limit of computing time (a cgroup's quota) is not in it.
int available_cores();

}  // namespace tapeline
