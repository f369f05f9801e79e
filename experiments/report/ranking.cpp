#include "experiments/report/ranking.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <ranges>
#include <tuple>
#include <utility>

namespace tapeline {
namespace {

/// A series at the length: its loss by seed, in bits a byte.
struct Entrant {
  const Series* series = nullptr;
  BySeed bits;
  double mean = 0;
};

std::vector<Entrant> entrants_at(const std::vector<ResultRow>& rows, const std::vector<Series>& all,
                                 Index length) {
  std::vector<Entrant> entrants;
  for (const Series& series : all) {
    Entrant entrant{&series,
                    by_seed(rows, series, {Protocol::nonoverlapping, length, length, false},
                            &EvaluationResult::bits_per_byte),
                    0};
    if (entrant.bits.empty()) continue;
    entrant.mean = estimate_over_seeds(entrant.bits).mean;
    entrants.push_back(std::move(entrant));
  }
  return entrants;
}

/// How many are below it on the seeds that both have.
Index count_below(const std::vector<BySeed>& figures, const BySeed& one) {
  return std::ranges::count_if(figures, [&](const BySeed& other) {
    return paired_difference(other, one).mean < 0;  // without a common seed NaN: not below
  });
}

}  // namespace

std::size_t leader_of(const std::vector<BySeed>& figures) {
  const auto leader = std::ranges::min_element(figures, {}, [&](const BySeed& one) {
    return std::pair(count_below(figures, one), estimate_over_seeds(one).mean);
  });
  return static_cast<std::size_t>(leader - figures.begin());
}

Ranking ranking_at(const std::vector<ResultRow>& rows, const std::vector<Series>& all, Index length) {
  const std::vector<Entrant> entrants = entrants_at(rows, all, length);
  Ranking ranking;
  if (entrants.empty()) return ranking;
  std::vector<BySeed> figures;
  for (const Entrant& one : entrants) figures.push_back(one.bits);
  const Entrant& leader = entrants[leader_of(figures)];

  std::vector<Estimate> behind;
  for (const Entrant& one : entrants) {
    behind.push_back(paired_difference(one.bits, leader.bits));
    ranking.same_seeds =
        ranking.same_seeds && std::ranges::equal(std::views::keys(one.bits), std::views::keys(leader.bits));
  }
  std::vector<std::size_t> order(entrants.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    // In a circle of leads one may be below the leader itself.
    const double lead = behind[i].count == 0 ? std::numeric_limits<double>::infinity() : behind[i].mean;
    return std::tuple(&entrants[i] != &leader, lead, entrants[i].mean);
  });
  for (const std::size_t i : order) {
    ranking.order.push_back(entrants[i].series);
    ranking.behind.push_back(behind[i]);
  }
  return ranking;
}

}  // namespace tapeline
