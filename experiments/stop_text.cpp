#include "experiments/stop_text.h"

#include <algorithm>
#include <utility>

namespace tapeline {

/// The length of the longest end of what is held that a stop text begins with.
std::size_t StopText::possible_beginning() const {
  std::size_t longest = 0;
  for (const std::string& stop : stops_) {
    for (std::size_t length = std::min(stop.size() - 1, held_.size()); length > longest; --length) {
      if (held_.ends_with(std::string_view(stop).substr(0, length))) longest = length;
    }
  }
  return longest;
}

std::string StopText::push(std::string_view piece) {
  std::string certain;
  for (const char byte : piece) {
    if (!found_.empty()) break;
    held_ += byte;
    for (const std::string& stop : stops_) {
      if (held_.ends_with(stop) && stop.size() > found_.size()) found_ = stop;
    }
    const std::size_t kept = !found_.empty() ? found_.size() : possible_beginning();
    certain.append(held_, 0, held_.size() - kept);
    held_.erase(0, held_.size() - kept);
  }
  return certain;
}

std::string StopText::finish() { return found_.empty() ? std::exchange(held_, {}) : std::string(); }

}  // namespace tapeline
