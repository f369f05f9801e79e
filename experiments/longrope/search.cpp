#include "experiments/longrope/search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/random.h"
#include "layers/positional/rope_scaling.h"

namespace tapeline {
namespace {

/// Random numbers of one child, in order.
class Draws {
 public:
  explicit Draws(RandomKey key) : key_(key) {}
  double uniform() { return random_uniform(key_, next_++); }
  std::size_t below(std::size_t bound) {
    return static_cast<std::size_t>(random_below(key_, next_++, bound));
  }

 private:
  RandomKey key_;
  std::uint64_t next_ = 0;
};

class Evolution {
 public:
  Evolution(const FactorSearch& search, const std::function<double(std::span<const double>)>& loss,
            const std::function<void(Index, Index, double)>& progress)
      : search_(search), loss_(loss), progress_(progress) {
    const Index children = 2 * std::max<Index>(1, search.population / 4);
    total_ = search.population + search.rounds * children;
  }

  FactorSearchResult run(std::vector<FactorList> starts) {
    total_ = std::max(total_, total_ - search_.population + static_cast<Index>(starts.size()));
    for (FactorList& start : starts) add(start);
    result_.starts = population_;
    const RandomKey first = random_key(search_.seed, "longrope");
    for (std::size_t child = 0; static_cast<Index>(population_.size()) < search_.population; ++child) {
      Draws draws(first.child(child));
      add({"", mutated(result_.starts[child % starts.size()].factors, draws)});
    }
    end_round();
    for (Index round = 1; round <= search_.rounds; ++round) {
      run_round(random_key(search_.seed, "longrope rounds").child(static_cast<std::uint64_t>(round)));
    }
    result_.best = population_.front();
    return std::move(result_);
  }

 private:
  void run_round(RandomKey key) {
    const std::size_t parents = std::max<std::size_t>(2, static_cast<std::size_t>(search_.population / 2));
    population_.resize(std::min(parents, population_.size()));
    const std::vector<FactorList> kept = population_;
    const Index each = std::max<Index>(1, search_.population / 4);
    for (Index child = 0; child < 2 * each; ++child) {
      Draws draws(key.child(static_cast<std::uint64_t>(child)));
      const std::vector<double>& parent = kept[draws.below(kept.size())].factors;
      if (child < each) {
        add({"", mutated(parent, draws)});
      } else {
        add({"", crossed(parent, kept[draws.below(kept.size())].factors, draws)});
      }
    }
    end_round();
  }

  void end_round() {
    std::ranges::stable_sort(population_, {}, &FactorList::loss);
    result_.best_by_round.push_back(population_.front().loss);
  }

  void add(FactorList list) {
    list.loss = loss_(list.factors);
    if (std::isnan(list.loss)) list.loss = std::numeric_limits<double>::infinity();
    best_ = std::min(best_, list.loss);
    population_.push_back(std::move(list));
    ++result_.tried;
    if (progress_) progress_(result_.tried, total_, best_);
  }

  /// Some pairs drawn anew between their neighbours, so that the list still never falls.
  std::vector<double> mutated(const std::vector<double>& parent, Draws& draws) const {
    std::vector<double> child = parent;
    for (std::size_t p = 0; p < child.size(); ++p) {
      const bool chosen = draws.uniform() < search_.mutation_probability;
      const double share = draws.uniform();
      if (!chosen) continue;
      const double lowest = p == 0 ? 1 : child[p - 1];
      const double highest = p + 1 == child.size() ? 1 + search_.extension : child[p + 1];
      const double drawn = lowest + share * (highest - lowest);
      child[p] = std::clamp(std::round(drawn / search_.step) * search_.step, lowest, highest);
    }
    return child;
  }

  /// Each pair from one of the two; where that would fall, the factor before it stays.
  static std::vector<double> crossed(const std::vector<double>& first, const std::vector<double>& second,
                                     Draws& draws) {
    std::vector<double> child = first;
    for (std::size_t p = 0; p < child.size(); ++p) {
      if (draws.uniform() < 0.5) child[p] = second[p];
      if (p > 0) child[p] = std::max(child[p], child[p - 1]);
    }
    return child;
  }

  const FactorSearch& search_;
  const std::function<double(std::span<const double>)>& loss_;
  const std::function<void(Index, Index, double)>& progress_;
  std::vector<FactorList> population_;
  FactorSearchResult result_;
  Index total_ = 0;
  double best_ = std::numeric_limits<double>::infinity();
};

}  // namespace

std::vector<FactorList> factor_starts(Index pairs, double base, double original_length, Index target) {
  struct Start {
    const char* name;
    RopeScalingKind kind;
  };
  std::vector<FactorList> starts{{"none", std::vector<double>(static_cast<std::size_t>(pairs), 1.0)}};
  std::vector<double> plain(static_cast<std::size_t>(pairs)), scaled(plain.size());
  rotary_frequencies({}, base, target, plain);
  for (const Start& start :
       {Start{"linear", RopeScalingKind::linear}, Start{"ntk", RopeScalingKind::ntk},
        Start{"yarn", RopeScalingKind::yarn}, Start{"ntk_by_parts", RopeScalingKind::ntk_by_parts}}) {
    if (start.kind == RopeScalingKind::ntk && pairs < 2) continue;
    RopeScaling scaling{.kind = start.kind, .original_length = original_length};
    scaling.beta = automatic_beta(scaling.alpha, original_length);
    rotary_frequencies(scaling, base, target, scaled);
    FactorList list{start.name, {}};
    double before = 1;  // rounding must not make a list fall
    for (std::size_t p = 0; p < plain.size(); ++p) {
      before = std::max(before, plain[p] / scaled[p]);
      list.factors.push_back(before);
    }
    starts.push_back(std::move(list));
  }
  return starts;
}

FactorSearchResult search_factors(const FactorSearch& search, std::vector<FactorList> starts,
                                  const std::function<double(std::span<const double>)>& loss,
                                  const std::function<void(Index, Index, double)>& progress) {
  require<ConfigError>(search.population >= 4 && search.rounds >= 0,
                       "longrope: a population of {} in {} rounds; at least 4 in 0 are expected",
                       search.population, search.rounds);
  require<ConfigError>(search.extension >= 1 && !starts.empty(),
                       "longrope: an extension of {} from {} starts; at least 1 from 1 are expected",
                       search.extension, starts.size());
  return Evolution(search, loss, progress).run(std::move(starts));
}

}  // namespace tapeline
