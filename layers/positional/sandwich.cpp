#include "layers/positional/sandwich.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/parallel.h"
#include "layers/positional/angles.h"

namespace tapeline::inline TAPELINE_PRECISION {

namespace {

constexpr Index largest_dimension = 65536;

/// Distances that are worth a thread of their own.
constexpr Index grain = 64;

}  // namespace

SandwichPositions::SandwichPositions(const Settings& settings)
    : DistanceEncoding(
          {.heads = settings.heads, .head_width = settings.head_width, .causal = settings.causal}),
      frequencies_(geometric_frequencies(settings.dimension / 2, 10000,
                                         static_cast<double>(settings.dimension) / 2)) {}

void SandwichPositions::fill(Index, const DistanceRows& rows) const {
  const std::lock_guard lock(mutex_);
  const Index longest = std::max(std::abs(rows.first), std::abs(rows.first + rows.count - 1));
  const auto made = static_cast<Index>(sums_.size());
  if (longest >= made) {
    sums_.resize(static_cast<std::size_t>(std::max(longest + 1, 2 * made)));
    parallel_for(static_cast<Index>(sums_.size()) - made, grain, [&](Index begin, Index end) {
      for (Index d = made + begin; d < made + end; ++d) {
        double sum = 0;
        for (const double frequency : frequencies_) sum += std::cos(static_cast<double>(d) * frequency) - 1;
        sums_[static_cast<std::size_t>(d)] = sum;
      }
    });
  }
  for (Index head = 0; head < heads(); ++head) {
    const double factor = static_cast<double>(heads()) / (8 * static_cast<double>(head + 1));
    Real* const to = rows.to + head * rows.stride;
    for (Index t = 0; t < rows.count; ++t) {
      to[t] = static_cast<Real>(factor * sums_[static_cast<std::size_t>(std::abs(rows.first + t))]);
    }
  }
}

const EncodingKind& sandwich_kind() {
  static const EncodingKind kind{
      .name = "sandwich",
      .title = "bias by the product of two sinusoids (Sandwich)",
      .formula =
          "score(i, j) = q_i . k_j / sqrt(d) + H / (8h) (sum_p cos((i - j) 10000^(-2p/D)) - D / 2), "
          "h = 1 .. H, p = 0 .. D/2 - 1",
      .acts_on = "scores, every layer",
      .parameters = "none",
      .beyond = "runs; holds its quality",
      .paper =
          "Chi, Fan, Rudnicky, Ramadge 2023, \"Dissecting Transformer Length Extrapolation via the Lens of "
          "Receptive Field Analysis\", arXiv:2212.10356",
      .options = {{.name = "dimension",
                   .initial = Index{128},
                   .help = "width D of the sinusoids, whatever that of a head; even"}},
      .make = [](const OptionValues& options,
                 const EncodingContext& context) -> std::unique_ptr<PositionalEncoding> {
        const Index dimension = options.integer("dimension");
        require<ConfigError>(dimension >= 2 && dimension <= largest_dimension && dimension % 2 == 0,
                             "positional.sandwich.dimension = {}; it takes an even number from 2 to {}",
                             dimension, largest_dimension);
        return std::make_unique<SandwichPositions>(
            SandwichPositions::Settings{.heads = context.heads,
                                        .head_width = context.head_width,
                                        .causal = context.causal,
                                        .dimension = dimension});
      },
  };
  return kind;
}

}  // namespace tapeline::inline TAPELINE_PRECISION
