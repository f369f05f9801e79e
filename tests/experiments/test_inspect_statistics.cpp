#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "core/parallel.h"
#include "core/random.h"
#include "experiments/inspect/drawing.h"
#include "experiments/inspect/statistics.h"

namespace tapeline {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class T>
Statistics of(const std::vector<T>& values, int bins = 20) {
  return statistics_of(std::span<const T>(values), bins);
}

/// The plain loop, in the widest numbers there are.
template <class T>
void check_against_loop(const std::vector<T>& values) {
  long double sum = 0, squares = 0, deviations = 0;
  for (const T value : values) sum += value, squares += static_cast<long double>(value) * value;
  const long double mean = sum / static_cast<long double>(values.size());
  for (const T value : values) deviations += (value - mean) * (value - mean);
  const auto sd = static_cast<double>(std::sqrt(deviations / static_cast<long double>(values.size())));
  const Statistics found = of(values);
  CHECK(found.count == static_cast<Index>(values.size()));
  CHECK(std::abs(found.mean - static_cast<double>(mean)) <=
        1e-14 * (std::abs(static_cast<double>(mean)) + sd));
  CHECK(found.sd == doctest::Approx(sd).epsilon(1e-12));
  CHECK(found.norm == doctest::Approx(static_cast<double>(std::sqrt(squares))).epsilon(1e-12));
  CHECK(found.min == static_cast<double>(*std::ranges::min_element(values)));
  CHECK(found.max == static_cast<double>(*std::ranges::max_element(values)));
  const std::vector<double>& edges = found.histogram.edges;
  REQUIRE(edges.size() == found.histogram.counts.size() + 1);
  for (std::size_t bin = 0; bin + 1 < edges.size(); ++bin) {
    const bool last = bin + 2 == edges.size();
    CHECK(found.histogram.counts[bin] == std::ranges::count_if(values, [&](T value) {
            return value >= edges[bin] && (value < edges[bin + 1] || (last && value == edges[bin + 1]));
          }));
  }
}

TEST_CASE("inspect statistics: as a plain loop finds them, about zero and far from it") {
  const RandomKey key = random_key(0, "statistics");
  for (const double shift : {0.0, 1.0, 1e6}) {
    for (const std::size_t count : {1, 2, 7, 2047, 2048, 2049, 10'000}) {
      std::vector<float> narrow;
      std::vector<double> wide;
      for (std::size_t i = 0; i < count; ++i) {
        const double value = shift + static_cast<double>(random_below(key, i, 2001)) / 1000 - 1;
        narrow.push_back(static_cast<float>(value));
        wide.push_back(value);
      }
      CAPTURE(shift);
      CAPTURE(count);
      check_against_loop(narrow);
      check_against_loop(wide);
    }
  }
}

TEST_CASE("inspect statistics: a small spread on a large mean is not lost") {
  // 40000 ... 40003 over and over: 1.118 from the mean; sums of squares in float say 0 or NaN.
  std::vector<float> values;
  for (int i = 0; i < 40'000; ++i) values.push_back(static_cast<float>(40'000 + i % 4));
  CHECK(of(values).sd == doctest::Approx(std::sqrt(1.25)).epsilon(1e-12));
  std::vector<double> wide;
  for (int i = 0; i < 40'000; ++i) wide.push_back(1e9 + i % 4);
  CHECK(of(wide).sd == doctest::Approx(std::sqrt(1.25)).epsilon(1e-12));
}

TEST_CASE("inspect statistics: NaN, infinities and zeros of both signs are counted and take no part") {
  const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
  const Statistics found = of(std::vector<float>{1, nan, -0.0f, inf, 3, 0, -inf, -nan});
  CHECK(found.count == 8);
  CHECK(found.nan == 2);
  CHECK(found.infinite == 2);
  CHECK(found.zero == 2);
  CHECK(found.finite() == 4);
  CHECK(found.mean == 1);
  CHECK(found.min == 0);
  CHECK(found.max == 3);
  CHECK(found.sd == doctest::Approx(std::sqrt(1.5)));
  CHECK(std::accumulate(found.histogram.counts.begin(), found.histogram.counts.end(), Index{0}) == 4);

  const Statistics none = of(std::vector<double>{std::nan(""), infinity});
  CHECK(std::isnan(none.mean));
  CHECK(std::isnan(none.min));
  CHECK(none.histogram.counts.empty());
  const Statistics empty = of(std::vector<float>{});
  CHECK(empty.count == 0);
  CHECK(std::isnan(empty.sd));
}

TEST_CASE("inspect statistics: no finite value is too large or too small") {
  const double huge = std::numeric_limits<double>::max(), tiny = std::numeric_limits<double>::denorm_min();
  const Statistics large = of(std::vector<double>{huge, huge, -huge, -huge});
  CHECK(large.mean == 0);
  CHECK(large.sd == doctest::Approx(huge));
  CHECK(large.max == huge);
  CHECK(large.histogram.counts.front() == 2);
  CHECK(large.histogram.counts.back() == 2);
  CHECK(of(std::vector<double>(1000, huge)).mean == huge);
  // A norm above every double is an infinity, not a wrong number.
  CHECK(of(std::vector<double>(1000, huge)).norm == infinity);

  // Training treats such numbers as zero on its threads; they are none.
  set_thread_count(thread_count());
  parallel_for(1, 1, [](Index, Index) {});
  const Statistics small = of(std::vector<double>{tiny, 3 * tiny});
  CHECK(small.zero == 0);
  CHECK(std::bit_cast<std::uint64_t>(small.min) == 1);
  CHECK(std::bit_cast<std::uint64_t>(small.max) == 3);
  const Statistics narrow = of(std::vector<float>(5, std::numeric_limits<float>::denorm_min()));
  CHECK(narrow.zero == 0);
  CHECK(narrow.mean == std::ldexp(1.0, -149));
}

TEST_CASE("inspect statistics: in pieces of any size they are the same to the last digits") {
  std::vector<float> values;
  for (int i = 0; i < 30'000; ++i) values.push_back(std::sin(static_cast<float>(i)));
  const Statistics whole = of(values);
  StatisticsPass pass;
  const std::span<const float> all(values);
  for (std::size_t i = 0; i < all.size(); i += 777)
    pass.first(all.subspan(i, std::min<std::size_t>(777, all.size() - i)));
  for (std::size_t i = 0; i < all.size(); i += 333)
    pass.second(all.subspan(i, std::min<std::size_t>(333, all.size() - i)));
  const Statistics pieces = pass.finish();
  CHECK(pieces.mean == doctest::Approx(whole.mean).epsilon(1e-12));
  CHECK(pieces.sd == doctest::Approx(whole.sd).epsilon(1e-13));
  CHECK(pieces.histogram.counts == whole.histogram.counts);
}

TEST_CASE("inspect statistics: equal values make one bin") {
  const Statistics found = of(std::vector<float>(5, 0.1f));
  CHECK(found.sd == 0);
  CHECK(found.histogram.counts == std::vector<Index>{5});
  CHECK(found.histogram.edges == std::vector<double>{0.1f, 0.1f});
}

TEST_CASE("inspect drawing: sparklines tell any count from none") {
  CHECK(sparkline({0, 1, 1000, 500}, 4) == " ▁█▄");
  CHECK(sparkline({1, 1, 2, 2}, 2) == "▄█");
  CHECK(sparkline({}, 5).empty());
  CHECK(sparkline({0, 0}, 5) == "  ");
}

TEST_CASE("inspect drawing: a curve has its range at the left and a gap for what is no number") {
  CHECK(curve({4, 3, 2, 1}, 40, 2) == "4 │█▃\n1 │██▆▁\n");
  CHECK(curve({2, std::nan(""), 1}, 40, 1) == "2 │█ ▁\n");
  CHECK(curve({1}, 40, 2).empty());
  CHECK(curve({}, 40, 2).empty());
  CHECK(curve({5, 5}, 40, 1) == "5 │▁▁\n");
}

TEST_CASE("inspect drawing: sizes and values for people") {
  CHECK(size_text(0) == "0 bytes");
  CHECK(size_text(1023) == "1023 bytes");
  CHECK(size_text(1024) == "1 KiB");
  CHECK(size_text(Index{5} << 30) == "5 GiB");
  CHECK(short_value(std::nan("")) == "–");
  CHECK(short_value(-0.000123456) == "-0.0001235");
}

}  // namespace
}  // namespace tapeline
