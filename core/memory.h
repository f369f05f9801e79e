#pragma once

#include <cstddef>
#include <string_view>

#include "core/error.h"

namespace tapeline {

/// Of everything that allocate_memory() gives.
inline constexpr std::size_t memory_alignment = 64;

/// Memory that the system does not give: says for what, and how much.
class MemoryError : public Error {
 public:
  using Error::Error;
};

/// The memory of this machine, in bytes.
double physical_memory_bytes();

/// What one program may take of it: a system that lends more than it has would kill it later.
double usable_memory_bytes();

/// Uninitialised memory, aligned to 64 bytes; null when there is none. Give it back with std::free. A large
/// piece asks the system for huge pages, where it has them: an optimizer that goes through all weights and
/// moments spends most of its time looking up small ones.
void* allocate_memory(std::size_t bytes);

/// Throws MemoryError: `bytes` more were wanted for `purpose` ("the weights") and could not be had. 0 bytes:
/// how many is not known.
[[noreturn]] void fail_memory(std::string_view purpose, std::size_t bytes);

}  // namespace tapeline
