#pragma once

#include <cstddef>

namespace tapeline {

/// Arenas, gradient pools, Storage::unwritten hand out memory as it is found. With this on they fill it with
/// bytes 0xFF first, a NaN as a number and -1 as an index, so that code which reads what it never wrote
/// shows itself. On from the start in debug and sanitizer builds; the tests turn it on in all. For every
/// thread; changes nothing that was handed out before.
void fill_fresh_memory(bool on);

/// For the allocators: fills when it is on.
void mark_fresh_memory(void* memory, std::size_t bytes);

}  // namespace tapeline
