#pragma once

#include <span>
#include <vector>

#include "core/index.h"

namespace tapeline {

/// A value at a step.
struct HistoryEntry {
  Index step = 0;
  double value = 0;
  friend bool operator==(const HistoryEntry&, const HistoryEntry&) = default;
};

/// Room for the losses of that many steps, so that no step asks for memory; a run of more than millions takes
/// it when it gets there.
void reserve_history(std::vector<HistoryEntry>& entries, Index steps);

/// The entry with the lowest finite value, the first of equals; nullptr when there is none. NaN is never
/// best, and does not block later ones.
const HistoryEntry* best_entry(std::span<const HistoryEntry> entries);

/// The mean of the last `count` values, or of all where there are fewer; NaN of none.
double mean_of_last(std::span<const HistoryEntry> entries, std::size_t count);

}  // namespace tapeline
