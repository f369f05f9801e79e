#include "experiments/inspect/statistics.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cfenv>
#include <cmath>
#include <type_traits>

#include "core/error.h"

namespace tapeline {
namespace {

constexpr std::size_t block_size = 2048;

/// The arithmetic of IEEE 754 as it is without anyone's settings: training treats numbers below the normal
/// range as zero, and a report must not.
class PlainArithmetic {
 public:
  PlainArithmetic() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  PlainArithmetic(const PlainArithmetic&) = delete;
  PlainArithmetic& operator=(const PlainArithmetic&) = delete;
  ~PlainArithmetic() { std::fesetenv(&before_); }

 private:
  std::fenv_t before_;
};

/// The bits of a number, for tests and comparisons that the compiler can do many at a time.
template <class T>
struct Bits {
  using Word = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  static constexpr Word magnitude = std::numeric_limits<Word>::max();
  static constexpr Word infinity = std::bit_cast<Word>(std::numeric_limits<T>::infinity());
  /// Whole numbers in the order of the values.
  static Word key(T value) {
    const Word word = std::bit_cast<Word>(value);
    return word ^ ((word >> (8 * sizeof(T) - 1)) & magnitude);
  }
  static T value(Word key) { return std::bit_cast<T>(key ^ ((key >> (8 * sizeof(T) - 1)) & magnitude)); }
};

/// Sum of `value(i)` for all i, in eight lanes.
template <class Value>
double sum(std::size_t count, Value value) {
  std::array<double, 8> lanes{};
  std::size_t i = 0;
  for (; i + lanes.size() <= count; i += lanes.size()) {
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) lanes[lane] += value(i + lane);
  }
  for (; i < count; ++i) lanes[0] += value(i);
  return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
}

}  // namespace

template <class T>
void StatisticsPass::scan(std::span<const T> values) {
  using Word = typename Bits<T>::Word;
  require<StateError>(!second_begun_, "statistics: the first pass is over");
  for (std::size_t begin = 0; begin < values.size(); begin += block_size) {
    const std::span<const T> block = values.subspan(begin, std::min(block_size, values.size() - begin));
    Word not_finite = 0, zero = 0;
    Word lowest = std::numeric_limits<Word>::max(), highest = std::numeric_limits<Word>::min();
    for (const T value : block) {
      const Word magnitude = std::bit_cast<Word>(value) & Bits<T>::magnitude;
      not_finite += magnitude >= Bits<T>::infinity ? 1 : 0;
      zero += magnitude == 0 ? 1 : 0;
      lowest = std::min(lowest, Bits<T>::key(value));
      highest = std::max(highest, Bits<T>::key(value));
    }
    found_.count += static_cast<Index>(block.size());
    found_.zero += zero;
    if (not_finite > 0) {
      lowest = std::numeric_limits<Word>::max(), highest = std::numeric_limits<Word>::min();
      for (const T value : block) {
        const Word magnitude = std::bit_cast<Word>(value) & Bits<T>::magnitude;
        if (magnitude > Bits<T>::infinity) ++found_.nan;
        if (magnitude == Bits<T>::infinity) ++found_.infinite;
        if (magnitude >= Bits<T>::infinity) continue;
        lowest = std::min(lowest, Bits<T>::key(value));
        highest = std::max(highest, Bits<T>::key(value));
      }
    }
    if (lowest > highest) continue;
    const double low = Bits<T>::value(lowest), high = Bits<T>::value(highest);
    if (!(found_.min <= low)) found_.min = low;
    if (!(found_.max >= high)) found_.max = high;
  }
}

void StatisticsPass::begin_second() {
  second_begun_ = true;
  if (found_.finite() == 0) return;
  const double largest = std::max(std::abs(found_.min), std::abs(found_.max));
  if (largest > 0) scale_ = std::ldexp(1.0, -std::clamp(std::ilogb(largest), -1000, 1000));
  const double low = found_.min * scale_, high = found_.max * scale_;
  edges_ = {low};
  if (low < high) {
    for (int i = 1; i < bins_; ++i) edges_.push_back(low + (high - low) * i / bins_);
  }
  edges_.push_back(high);
  found_.histogram.counts.assign(edges_.size() - 1, 0);
}

template <class T>
void StatisticsPass::add(std::span<const T> values) {
  if (!second_begun_) begin_second();
  const bool all_finite = found_.finite() == found_.count;
  std::array<double, block_size> scaled;
  for (std::size_t begin = 0; begin < values.size(); begin += block_size) {
    const std::span<const T> block = values.subspan(begin, std::min(block_size, values.size() - begin));
    std::size_t count = block.size();
    if (all_finite) {
      for (std::size_t i = 0; i < count; ++i) scaled[i] = static_cast<double>(block[i]) * scale_;
    } else {
      count = 0;
      for (const T value : block) {
        if (std::isfinite(value)) scaled[count++] = static_cast<double>(value) * scale_;
      }
    }
    if (count > 0) add_block({scaled.data(), count});
  }
}

void StatisticsPass::add_block(std::span<const double> scaled) {
  const auto count = static_cast<double>(scaled.size());
  const double mean = sum(scaled.size(), [&](std::size_t i) { return scaled[i]; }) / count;
  const double deviations = sum(scaled.size(), [&](std::size_t i) {
    const double difference = scaled[i] - mean;
    return difference * difference;
  });
  squares_ += sum(scaled.size(), [&](std::size_t i) { return scaled[i] * scaled[i]; });
  const auto before = static_cast<double>(merged_);
  merged_ += static_cast<Index>(scaled.size());
  const double difference = mean - mean_, share = count / static_cast<double>(merged_);
  mean_ += difference * share;
  deviations_ += deviations + difference * difference * before * share;

  std::vector<Index>& counts = found_.histogram.counts;
  const auto bins = static_cast<int>(counts.size());
  if (bins == 1) {
    counts[0] += static_cast<Index>(scaled.size());
    return;
  }
  const double low = edges_.front(), bins_per_unit = bins / (edges_.back() - low);
  for (const double value : scaled) {
    int bin = std::min(static_cast<int>((value - low) * bins_per_unit), bins - 1);
    // Rounding may have put it on the wrong side of an edge: the edges that are shown decide.
    if (value < edges_[static_cast<std::size_t>(bin)]) --bin;
    if (bin + 1 < bins && value >= edges_[static_cast<std::size_t>(bin) + 1]) ++bin;
    ++counts[static_cast<std::size_t>(bin)];
  }
}

Statistics StatisticsPass::finish() const {
  const PlainArithmetic plain;
  Statistics result = found_;
  if (merged_ == 0) return result;
  result.mean = mean_ / scale_;
  result.sd = std::sqrt(deviations_ / static_cast<double>(merged_)) / scale_;
  result.norm = std::sqrt(squares_) / scale_;
  for (const double edge : edges_) result.histogram.edges.push_back(edge / scale_);
  return result;
}

void StatisticsPass::first(std::span<const float> values) {
  const PlainArithmetic plain;
  scan(values);
}
void StatisticsPass::first(std::span<const double> values) {
  const PlainArithmetic plain;
  scan(values);
}
void StatisticsPass::second(std::span<const float> values) {
  const PlainArithmetic plain;
  add(values);
}
void StatisticsPass::second(std::span<const double> values) {
  const PlainArithmetic plain;
  add(values);
}

Statistics statistics_of(std::span<const float> values, int bins) {
  StatisticsPass pass(bins);
  pass.first(values);
  pass.second(values);
  return pass.finish();
}

Statistics statistics_of(std::span<const double> values, int bins) {
  StatisticsPass pass(bins);
  pass.first(values);
  pass.second(values);
  return pass.finish();
}

}  // namespace tapeline
