#pragma once

#include <cstddef>
#include <string_view>

#include "core/error.h"

namespace tapeline {

/// Memory that the system does not give: says for what, and how much.
class MemoryError : public Error {
 public:
  using Error::Error;
};

/// The memory of this machine, in bytes.
double physical_memory_bytes();

/// Throws MemoryError: `bytes` more were wanted for `purpose` ("the weights") and could not be had. 0 bytes:
/// how many is not known.
[[noreturn]] void fail_memory(std::string_view purpose, std::size_t bytes);

}  // namespace tapeline
