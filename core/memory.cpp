#include "core/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace tapeline {

double physical_memory_bytes() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
}

double usable_memory_bytes() { return 0.8 * physical_memory_bytes(); }

void* allocate_memory(std::size_t bytes) {
  constexpr std::size_t huge_page = std::size_t{2} << 20;
  const std::size_t alignment = bytes >= 2 * huge_page ? huge_page : memory_alignment;
  if (bytes > std::numeric_limits<std::size_t>::max() - alignment) return nullptr;
  const std::size_t rounded = (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  void* const memory = std::aligned_alloc(alignment, rounded);
  // Only advice: a system without huge pages says no, and nothing changes.
  if (memory != nullptr && alignment == huge_page) ::madvise(memory, rounded, MADV_HUGEPAGE);
  return memory;
}

void fail_memory(std::string_view purpose, std::size_t bytes) {
  const auto size = static_cast<double>(bytes);
  const std::string wanted = bytes == 0   ? std::string()
                             : size < 1e8 ? fmt::format(": {:.1f} MB more were asked for", size / 1e6)
                                          : fmt::format(": {:.1f} GB more were asked for", size / 1e9);
  fail<MemoryError>(
      "there is not enough memory for {}{}; this machine has {:.1f} GB, less what others use; a smaller "
      "model, length, batch or text may fit",
      purpose, wanted, physical_memory_bytes() / 1e9);
}

}  // namespace tapeline
