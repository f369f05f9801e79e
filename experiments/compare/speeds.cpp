#include "experiments/compare/speeds.h"

#include <algorithm>

namespace tapeline {
namespace {

bool has_speed(const FinishedCell& cell) {
  return cell.record.training == "done" && cell.record.tokens_per_second > 0;
}

}  // namespace

TrainedOn trained_on(const Comparison& comparison) {
  TrainedOn all;
  for (const FinishedCell& cell : comparison.cells) {
    all.shares.insert(cell.share);
    // Not known: as the whole comparison, where that tells.
    all.threads.insert(cell.record.threads > 0 ? cell.record.threads : comparison.threads);
  }
  return all;
}

bool timed_alike(const FinishedCell& one, const FinishedCell& other) {
  return one.share == other.share && one.record.threads == other.record.threads;
}

SpeedPairs speed_pairs(const Comparison& comparison, std::string_view one, std::string_view other) {
  SpeedPairs pairs;
  std::set<int> threads;
  for (const FinishedCell& a : comparison.cells) {
    if (a.variant != one || !has_speed(a)) continue;
    for (const FinishedCell& b : comparison.cells) {
      if (b.variant != other || b.seed != a.seed || !has_speed(b)) continue;
      if (!timed_alike(a, b)) {
        pairs.apart = true;
        continue;
      }
      pairs.one[a.seed] = a.record.tokens_per_second;
      pairs.other[a.seed] = b.record.tokens_per_second;
      threads.insert(a.record.threads);
    }
  }
  // The ratio depends on the number of threads: a mean over several is of none of them.
  if (threads.size() > 1) return {{}, {}, true};
  return pairs;
}

}  // namespace tapeline
