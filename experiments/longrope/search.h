#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/index.h"

namespace tapeline {

/// How LongRoPE's factors are looked for: an evolution over lists that never fall, between 1 and
/// 1 + extension (Ding et al. 2024, 2402.13753). Each round keeps the best half as parents, and makes a
/// quarter of the population by mutation of one of them and a quarter by crossing two.
struct FactorSearch {
  double extension = 1;  ///< s, the target length over the trained one
  Index population = 64;
  Index rounds = 10;
  double mutation_probability = 0.3;  ///< of each pair
  double step = 0.01;                 ///< mutated factors are multiples of it
  std::uint64_t seed = 0;
};

/// One list of factors, lambda_p [r/2], and what it was found to lose.
struct FactorList {
  std::string name;  ///< of a start: "ntk"; else empty
  std::vector<double> factors;
  double loss = 0;
};

/// The lists that a search starts from: no scaling at all, position interpolation, NTK, YaRN and NTK by
/// parts, each as theta_p / theta'_p at `target` rows of a model trained at `original_length`. [pairs] each.
std::vector<FactorList> factor_starts(Index pairs, double base, double original_length, Index target);

struct FactorSearchResult {
  FactorList best;
  std::vector<FactorList> starts;     ///< with their losses
  std::vector<double> best_by_round;  ///< after the first population, then after each round
  Index tried = 0;
};

/// The best list found. `loss` is asked once for each list; one that is no number counts as the worst.
/// `progress` is told after each of them how many of how many were tried, and the best so far. The same seed
/// and losses give the same result. Throws ConfigError for a population below 4 or an extension below 1.
FactorSearchResult search_factors(const FactorSearch& search, std::vector<FactorList> starts,
                                  const std::function<double(std::span<const double>)>& loss,
                                  const std::function<void(Index, Index, double)>& progress = {});

}  // namespace tapeline
