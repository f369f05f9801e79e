#pragma once

namespace tapeline {

/// The memory of this machine, in bytes.
double physical_memory_bytes();

}  // namespace tapeline
