#include "layers/positional/t5.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>

#include "core/error.h"
#include "layers/init.h"
#include "layers/positional/number_text.h"

namespace tapeline::inline TAPELINE_PRECISION {

namespace {

constexpr Index most_buckets = 512;
constexpr Index longest_distance = std::numeric_limits<std::int32_t>::max();

/// A whole number of any size: 32 bits a digit, the lowest first, no zeros on top.
class Natural {
 public:
  /// factor^exponent * other^other_exponent
  static Natural product(Index factor, Index exponent, Index other = 1, Index other_exponent = 0) {
    Natural result;
    for (Index n = 0; n < exponent; ++n) result.multiply(static_cast<std::uint32_t>(factor));
    for (Index n = 0; n < other_exponent; ++n) result.multiply(static_cast<std::uint32_t>(other));
    return result;
  }
  bool operator<(const Natural& other) const {
    if (digits_.size() != other.digits_.size()) return digits_.size() < other.digits_.size();
    return std::lexicographical_compare(digits_.rbegin(), digits_.rend(), other.digits_.rbegin(),
                                        other.digits_.rend());
  }

 private:
  void multiply(std::uint32_t factor) {
    std::uint64_t carry = 0;
    for (std::uint32_t& digit : digits_) {
      carry += std::uint64_t{digit} * factor;
      digit = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    if (carry > 0) digits_.push_back(static_cast<std::uint32_t>(carry));
  }
  std::vector<std::uint32_t> digits_{1};
};

/// The smallest distance of each of the buckets of one side. Bucket e + k, of N = buckets - e, begins at the
/// smallest n with (n / e)^N >= (max_distance / e)^k.
std::vector<Index> bucket_begins(Index buckets, Index max_distance) {
  const Index exact = buckets / 2, powers = buckets - exact;
  std::vector<Index> begins;
  for (Index n = 0; n <= exact; ++n) begins.push_back(n);
  for (Index k = 1; k < powers; ++k) {
    const Natural limit = Natural::product(max_distance, k, exact, powers - k);
    Index below = begins.back() - 1, enough = max_distance;
    while (enough - below > 1) {
      const Index middle = below + (enough - below) / 2;
      (Natural::product(middle, powers) < limit ? below : enough) = middle;
    }
    begins.push_back(enough);
  }
  return begins;
}

/// body(bucket, begin, end) for the runs that meet the distances [first, first + count): these of them.
template <class Body>
void for_runs(std::span<const T5Buckets::Run> runs, Index first, Index count, Body&& body) {
  for (std::size_t n = 0; n < runs.size(); ++n) {
    const Index begin = std::max(runs[n].begin, first);
    const Index end = n + 1 < runs.size() ? std::min(runs[n + 1].begin, first + count) : first + count;
    if (begin < end) body(runs[n].bucket, begin - first, end - first);
  }
}

Index max_distance_of(const std::string& text, Index buckets, const EncodingContext& context) {
  const Index exact = context.causal ? buckets / 2 : buckets / 4;
  if (text == "auto") return std::max(std::min<Index>(128, context.train_length), exact + 1);
  const double number = number_of_text(text).value_or(0);
  const bool whole = number == std::floor(number);
  require<ConfigError>(
      whole && number > static_cast<double>(exact) && number <= static_cast<double>(longest_distance),
      "positional.t5.max_distance = {} with positional.t5.buckets = {}; it takes auto, or a "
      "whole number above {}, {} of the buckets, up to {}",
      text, buckets, exact, context.causal ? "half" : "a quarter", longest_distance);
  return static_cast<Index>(number);
}

}  // namespace

T5Buckets::T5Buckets(Index buckets, Index max_distance, bool causal) {
  const Index side = causal ? buckets : buckets / 2;
  const std::vector<Index> begins = bucket_begins(side, max_distance);
  const auto begin = [&](Index bucket) { return begins[static_cast<std::size_t>(bucket)]; };
  constexpr Index endless = std::numeric_limits<Index>::min();
  // A bucket that begins where the next one does is empty.
  const auto last_of_side = [&](Index bucket) { return bucket == side - 1; };
  const auto empty = [&](Index bucket) {
    return !last_of_side(bucket) && begin(bucket + 1) == begin(bucket);
  };
  if (!causal) {  // keys after the query, the farthest first; bucket 0 is that of distance 0
    for (Index bucket = side - 1; bucket > 0; --bucket) {
      if (empty(bucket)) continue;
      runs_.push_back({last_of_side(bucket) ? endless : 1 - begin(bucket + 1), side + bucket});
    }
  }
  for (Index bucket = 0; bucket < side; ++bucket) {
    if (!empty(bucket)) runs_.push_back({runs_.empty() ? endless : begin(bucket), bucket});
  }
}

Index T5Buckets::operator()(Index distance) const {
  const auto after = std::ranges::upper_bound(runs_, distance, {}, [](const Run& run) { return run.begin; });
  return std::prev(after)->bucket;
}

T5Positions::T5Positions(const Scope& scope, const Settings& settings)
    : DistanceEncoding(
          {.heads = settings.heads, .head_width = settings.head_width, .causal = settings.causal}),
      buckets_(settings.buckets, settings.max_distance, settings.causal),
      table_(&scope.add("table", {.shape = {settings.heads, settings.buckets}, .initializer = normal()})) {}

DistanceEncoding::Weights T5Positions::weights(Index) const { return {table_}; }

void T5Positions::fill(Index, const DistanceRows& rows) const {
  const Tensor table = table_->value();
  for (Index head = 0; head < heads(); ++head) {
    const Real* const of_head = table.data + head * table.shape[1];
    Real* const to = rows.to + head * rows.stride;
    for_runs(buckets_.runs(), rows.first, rows.count,
             [&](Index bucket, Index begin, Index end) { std::fill(to + begin, to + end, of_head[bucket]); });
  }
}

void T5Positions::add_gradients(const Tensor& d_table, Index first, Var table, Var) const {
  const Index count = d_table.shape[1], buckets = table.shape()[1];
  const Tensor d_buckets = table.grad();
  for (Index head = 0; head < heads(); ++head) {
    const Real* const from = d_table.data + head * count;
    for_runs(buckets_.runs(), first, count, [&](Index bucket, Index begin, Index end) {
      double sum = 0;
      for (Index t = begin; t < end; ++t) sum += static_cast<double>(from[t]);
      d_buckets.data[head * buckets + bucket] += static_cast<Real>(sum);
    });
  }
}

const EncodingKind& t5_kind() {
  static const EncodingKind kind{
      .name = "t5",
      .title = "T5's bias by buckets of distances",
      .formula =
          "score(i, j) = q_i . k_j / sqrt(d) + T[h, bucket(i - j)]; a bucket a distance up to half of "
          "them, then wider by a constant factor",
      .acts_on = "scores, every layer",
      .parameters = "heads x buckets, shared by the layers",
      .beyond = "runs; far distances share the last bucket",
      .paper =
          "Raffel, Shazeer, Roberts, Lee, Narang, Matena, Zhou, Li, Liu 2020, \"Exploring the Limits of "
          "Transfer Learning with a Unified Text-to-Text Transformer\", arXiv:1910.10683",
      .options = {{.name = "buckets",
                   .initial = Index{32},
                   .help = "entries of the table for each head; even, 4 to 512; without the causal mask half "
                           "of them are for keys after the query"},
                  {.name = "max_distance",
                   .initial = std::string("auto"),
                   .help = "from here on all distances share the last bucket; auto: 128 or the trained "
                           "length, whichever is smaller, since buckets beyond it are never trained",
                   .choices = {"auto"},
                   .number_too = true}},
      .make = [](const OptionValues& options,
                 const EncodingContext& context) -> std::unique_ptr<PositionalEncoding> {
        const Index buckets = options.integer("buckets");
        require<ConfigError>(buckets >= 4 && buckets <= most_buckets && buckets % 2 == 0,
                             "positional.t5.buckets = {}; it takes an even number from 4 to {}", buckets,
                             most_buckets);
        return std::make_unique<T5Positions>(
            context.scope, T5Positions::Settings{.heads = context.heads,
                                                 .head_width = context.head_width,
                                                 .causal = context.causal,
                                                 .buckets = buckets,
                                                 .max_distance = max_distance_of(options.text("max_distance"),
                                                                                 buckets, context)});
      },
  };
  return kind;
}

}  // namespace tapeline::inline TAPELINE_PRECISION
