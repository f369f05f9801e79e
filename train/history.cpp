#include "train/history.h"

#include <algorithm>
#include <cmath>
#include <limits>

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

double mean_of_last(std::span<const HistoryEntry> entries, std::size_t count) {
  count = std::min(count, entries.size());
  double sum = 0;
  for (const HistoryEntry& entry : entries.last(count)) sum += entry.value;
  return count > 0 ? sum / static_cast<double>(count) : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace tapeline
