#include "train/history.h"

#include <algorithm>
#include <cmath>

namespace tapeline {

void reserve_history(std::vector<HistoryEntry>& entries, Index steps) {
  entries.reserve(static_cast<std::size_t>(std::clamp(steps, Index{0}, Index{1} << 24)));
}

const HistoryEntry* best_entry(std::span<const HistoryEntry> entries) {
  const HistoryEntry* best = nullptr;
  for (const HistoryEntry& entry : entries) {
    if (std::isfinite(entry.value) && (best == nullptr || entry.value < best->value)) best = &entry;
  }
  return best;
}

}  // namespace tapeline
