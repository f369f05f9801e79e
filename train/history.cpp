#include "train/history.h"

#include <cmath>

namespace tapeline {

const HistoryEntry* best_entry(std::span<const HistoryEntry> entries) {
  const HistoryEntry* best = nullptr;
  for (const HistoryEntry& entry : entries) {
    if (std::isfinite(entry.value) && (best == nullptr || entry.value < best->value)) best = &entry;
  }
  return best;
}

}  // namespace tapeline
