#include "core/descriptor.h"

#include <cerrno>
#include <vector>

namespace tapeline {

ssize_t read_some(int descriptor, char* to, std::size_t bytes) {
  for (;;) {
    const ssize_t count = ::read(descriptor, to, bytes);
    if (count >= 0 || errno != EINTR) return count;
  }
}

bool read_all(int descriptor, std::string& text) {
  std::vector<char> buffer(1 << 16);
  for (;;) {
    const ssize_t count = read_some(descriptor, buffer.data(), buffer.size());
    if (count <= 0) return count == 0;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace tapeline
