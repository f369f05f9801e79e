#pragma once

#include <set>
#include <string_view>

#include "experiments/compare/comparison.h"
#include "experiments/statistics/estimate.h"

namespace tapeline {

// Speeds are compared only where they were measured alike: in one folder, so on one machine, and on as many
// threads. Shares of a comparison may have run on machines that differ more than any two encodings do.

/// What the models of a comparison were trained on.
struct TrainedOn {
  std::set<Index> shares;  ///< FinishedCell::share
  std::set<int> threads;   ///< 0: not known
  bool alike() const { return shares.size() <= 1 && threads.size() <= 1; }
};
TrainedOn trained_on(const Comparison& comparison);

/// Whether the speeds of two models can be compared.
bool timed_alike(const FinishedCell& one, const FinishedCell& other);

/// The training speeds of two variants of the seeds that have both, trained to the end and timed alike.
struct SpeedPairs {
  BySeed one, other;   ///< tokens a second
  bool apart = false;  ///< some seed has both, and they were not timed alike; or the pairs were not
};
SpeedPairs speed_pairs(const Comparison& comparison, std::string_view one, std::string_view other);

/// Why there is no ratio of speeds where all pairs are apart.
inline constexpr const char* speeds_apart = "speeds are of different shares or numbers of threads";

}  // namespace tapeline
