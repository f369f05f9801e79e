#include "experiments/statistics/bootstrap.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "experiments/statistics/student.h"

namespace tapeline {
namespace {

/// The blocks of every term, block by block: one draw reads them in one go.
class Blocks {
 public:
  explicit Blocks(const std::vector<BootstrapTerm>& terms)
      : count_(terms.front().blocks.size()), losses_(terms.size() * count_), sums_(terms.size()) {
    for (std::size_t t = 0; t < terms.size(); ++t) {
      weights_.push_back(terms[t].weight);
      for (std::size_t b = 0; b < count_; ++b) {
        const SegmentLoss& loss = terms[t].blocks[b];
        losses_[b * terms.size() + t] = {loss.total, static_cast<double>(loss.tokens)};
      }
    }
  }

  std::size_t count() const { return count_; }

  void clear() { std::ranges::fill(sums_, Sum{}); }
  void add(std::size_t block) {
    const Sum* losses = losses_.data() + block * sums_.size();
    for (std::size_t t = 0; t < sums_.size(); ++t) {
      sums_[t].total += losses[t].total;
      sums_[t].tokens += losses[t].tokens;
    }
  }
  double value() const {
    double value = 0;
    for (std::size_t t = 0; t < sums_.size(); ++t) value += weights_[t] * sums_[t].total / sums_[t].tokens;
    return value;
  }

 private:
  struct Sum {
    double total = 0, tokens = 0;
  };
  std::size_t count_;
  std::vector<Sum> losses_, sums_;
  std::vector<double> weights_;
};

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
  Blocks blocks(terms);
  for (std::size_t b = 0; b < blocks.count(); ++b) blocks.add(b);
  interval.mean = blocks.value();
  if (interval.blocks < 2 || !std::isfinite(interval.mean)) return interval;

  const std::size_t words = (blocks.count() + 3) / 4;
  std::vector<std::uint32_t> random(4 * words);
  std::vector<double> means;
  for (Index draw = 0; draw < draws; ++draw) {
    random_blocks(key, 0, static_cast<std::uint64_t>(draw), words, random.data());
    blocks.clear();
    // A word scaled to the number of blocks: some are likelier than others by less than blocks / 2^32.
    for (std::size_t b = 0; b < blocks.count(); ++b)
      blocks.add(random[b] * std::uint64_t{blocks.count()} >> 32);
    means.push_back(blocks.value());
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
