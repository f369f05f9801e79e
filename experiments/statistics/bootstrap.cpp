#include "experiments/statistics/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "experiments/statistics/student.h"

namespace tapeline {
namespace {

/// The losses of one term, its totals and its tokens apart.
struct Losses {
  explicit Losses(const BootstrapTerm& term) : weight(term.weight) {
    for (const SegmentLoss& block : term.blocks) {
      totals.push_back(block.total);
      tokens.push_back(static_cast<double>(block.tokens));
    }
  }
  double weight;
  std::vector<double> totals, tokens;
};

/// The sum over the terms, of the blocks of these numbers.
double value_of(const std::vector<Losses>& terms, const std::vector<std::uint32_t>& blocks) {
  double value = 0;
  for (const Losses& term : terms) {
    double total = 0, tokens = 0;
    for (const std::uint32_t block : blocks) {
      total += term.totals[block];
      tokens += term.tokens[block];
    }
    value += term.weight * total / tokens;
  }
  return value;
}

/// The quantile of sorted values, between neighbours in proportion.
double quantile(const std::vector<double>& sorted, double probability) {
  const double place = probability * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  if (below + 1 >= sorted.size()) return sorted.back();
  const double share = place - static_cast<double>(below);
  return sorted[below] * (1 - share) + sorted[below + 1] * share;
}

}  // namespace

BootstrapInterval bootstrap(const std::vector<BootstrapTerm>& terms, RandomKey key, Index draws) {
  require<ShapeError>(!terms.empty() && draws >= 1, "bootstrap: {} terms and {} draws; at least one of each",
                      terms.size(), draws);
  for (const BootstrapTerm& term : terms) {
    require<ShapeError>(term.blocks.size() == terms.front().blocks.size(),
                        "bootstrap: terms of {} and {} blocks; they must be of the same blocks",
                        terms.front().blocks.size(), term.blocks.size());
  }
  BootstrapInterval interval;
  interval.blocks = static_cast<Index>(terms.front().blocks.size());
  if (interval.blocks == 0) return interval;
  const std::vector<Losses> losses(terms.begin(), terms.end());
  const std::size_t blocks = terms.front().blocks.size();
  std::vector<std::uint32_t> drawn(blocks);
  std::iota(drawn.begin(), drawn.end(), 0u);
  interval.mean = value_of(losses, drawn);
  if (interval.blocks < fewest_bootstrap_blocks || !std::isfinite(interval.mean)) return interval;

  const std::size_t quads = (blocks + 3) / 4;
  std::vector<std::uint32_t> random(4 * quads);
  std::vector<double> means;
  for (Index draw = 0; draw < draws; ++draw) {
    random_blocks(key, 0, static_cast<std::uint64_t>(draw), quads, random.data());
    // A word scaled to the number of blocks: some are likelier than others by less than blocks / 2^32.
    for (std::size_t b = 0; b < blocks; ++b)
      drawn[b] = static_cast<std::uint32_t>(std::uint64_t{random[b]} * blocks >> 32);
    means.push_back(value_of(losses, drawn));
  }
  std::ranges::sort(means);
  const auto count = static_cast<double>(interval.blocks);
  const double tail =
      normal_probability(-std::sqrt(count / (count - 1)) * student_quantile(0.975, interval.blocks - 1));
  interval.lower = quantile(means, tail);
  interval.upper = quantile(means, 1 - tail);
  return interval;
}

}  // namespace tapeline
