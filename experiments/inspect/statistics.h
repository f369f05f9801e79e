#pragma once

#include <limits>
#include <span>
#include <vector>

#include "core/index.h"

namespace tapeline {

/// Equal bins over the finite values, the last one closed on both sides. Equal values: one bin of width 0; no
/// finite value: no bins.
struct Histogram {
  std::vector<double> edges;  ///< one more than bins
  std::vector<Index> counts;
};

/// What a tensor's values are like. All but the counts is of the finite values; NaN where there are none.
struct Statistics {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();
  Index count = 0, nan = 0, infinite = 0, zero = 0;
  double mean = none;
  double sd = none;  ///< of these values, not of a population they are a sample of: divided by their number
  double min = none, max = none;
  double norm = none;  ///< square root of the sum of squares
  Histogram histogram;

  Index finite() const { return count - nan - infinite; }
};

/// Statistics of values that arrive piece by piece, twice over: `first` for counts and range, then `second`
/// for the rest, which needs the range. Sums are taken in double about the mean of blocks of some thousand
/// values, which are merged (Chan, Golub, LeVeque 1979, eq. 2.1): no cancellation, and no overflow for any
/// finite values. Numbers below the normal range count as what they are, whatever the thread is set to.
class StatisticsPass {
 public:
  explicit StatisticsPass(int bins = 20) : bins_(bins) {}

  void first(std::span<const float> values);
  void first(std::span<const double> values);
  void second(std::span<const float> values);
  void second(std::span<const double> values);
  /// After the last piece of the second pass.
  Statistics finish() const;

 private:
  template <class T>
  void scan(std::span<const T> values);
  template <class T>
  void add(std::span<const T> values);
  void begin_second();
  void add_block(std::span<const double> scaled);

  int bins_;
  bool second_begun_ = false;
  Statistics found_;
  // Of the second pass, in values times a power of two that keeps squares within range.
  double scale_ = 1, mean_ = 0, deviations_ = 0, squares_ = 0;
  Index merged_ = 0;
  std::vector<double> edges_;
};

/// Of values that are all there.
Statistics statistics_of(std::span<const float> values, int bins = 20);
Statistics statistics_of(std::span<const double> values, int bins = 20);

}  // namespace tapeline
