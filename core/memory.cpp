#include "core/memory.h"

#include <fmt/format.h>
#include <unistd.h>

namespace tapeline {

double physical_memory_bytes() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
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
