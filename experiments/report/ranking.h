#pragma once

#include <vector>

#include "experiments/compare/results.h"
#include "experiments/compare/summary.h"

namespace tapeline {

/// The series that were measured at one length, non-overlapping on the whole scored set, the best first.
///
/// The seeds of a comparison differ more than its series do, so that a series that lacks a seed (it diverged,
/// or has not been trained yet) cannot be ranked by its mean: each is compared with the leader on the seeds
/// that both have. The leader is the series that none is below in that; where there is no such series the one
/// that the fewest are below, of several the one with the lowest mean. With the same seeds everywhere it is
/// the order of the means.
struct Ranking {
  std::vector<const Series*> order;  ///< the leader first; then by lead, those without a common seed last
  std::vector<Estimate> behind;      ///< bits a byte above the leader, paired by seed; the leader's own is 0
  bool same_seeds = true;            ///< every series has the same seeds

  bool empty() const { return order.empty(); }
  const Series& leader() const { return *order.front(); }
};

/// The place of the one that the fewest others are below on the seeds that both have, of several the one with
/// the lowest mean: who leads, where some lack a seed. None is empty, there is one at least.
std::size_t leader_of(const std::vector<BySeed>& figures);

Ranking ranking_at(const std::vector<ResultRow>& rows, const std::vector<Series>& all, Index length);

}  // namespace tapeline
