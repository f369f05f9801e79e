#include "experiments/claims/sinusoid.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "experiments/claims/made_up.h"
#include "experiments/claims/subjects.h"

namespace tapeline {
namespace {

constexpr double whole_turn = 2 * std::numbers::pi;

/// The rows that the encoding adds to tokens, as large as the paper has them.
VectorTable sinusoid_rows(Index width, Index count) {
  const EncodingView view(with_kind_option(claim_plan("sinusoidal", width), "scale", std::string("1")));
  return *view_input(view, 0, count);
}

double feature(const VectorTable& rows, Index row, Index at) {
  return rows.numbers[static_cast<std::size_t>(row * rows.width + at)];
}

double product(const VectorTable& rows, Index one, Index other) {
  double sum = 0;
  for (Index at = 0; at < rows.width; ++at) sum += feature(rows, one, at) * feature(rows, other, at);
  return sum;
}

/// The wavelength of a pair, from its angle at row 1, 2, 4, ...: the error of a rounded angle falls with the
/// stretch that it is measured over.
double wavelength_of_pair(const VectorTable& rows, Index pair) {
  double turn = 0;  // of a row
  for (Index row = 1; row < rows.count; row *= 2) {
    const double seen = std::atan2(feature(rows, row, 2 * pair), feature(rows, row, 2 * pair + 1));
    const double turns = std::round((turn * static_cast<double>(row) - seen) / whole_turn);
    turn = (seen + whole_turn * turns) / static_cast<double>(row);
  }
  return whole_turn / turn;
}

}  // namespace

ClaimFinding sinusoid_begins_at_zero(const VectorTable& rows) {
  const double norm = rows.norm(0, 0);
  std::vector<double> first;
  for (Index at = 0; at < std::min<Index>(rows.width, 6); ++at) first.push_back(feature(rows, 0, at));
  return {norm == 0 ? ClaimVerdict::is_true : ClaimVerdict::is_false,
          fmt::format("row 0 is {:g}, ...; its norm at width {} is {:.4g}", fmt::join(first, ", "),
                      rows.width, norm)};
}

ClaimFinding sinusoid_product_falls(const VectorTable& rows) {
  std::vector<double> curve;
  for (Index distance = 0; distance < rows.count; ++distance) curve.push_back(product(rows, 0, distance));
  const Fall fall = fall_of(curve, 1e-6 * curve.front());
  if (fall.rises == 0) {
    return {ClaimVerdict::is_true, fmt::format("no rise at distances up to {}", rows.count - 1)};
  }
  return {fall.means_fall ? ClaimVerdict::on_average : ClaimVerdict::is_false,
          fmt::format("it rises at {} of {} steps, first from distance {} to {} (width {}); its means over "
                      "distances 1, 2-3, 4-7, 8-15, ... {}",
                      fall.rises, rows.count - 1, fall.first_rise, fall.first_rise + 1, rows.width,
                      fall.means_fall ? "all fall" : "do not all fall")};
}

ClaimFinding sinusoid_reaches_base(const VectorTable& rows) {
  const double longest = wavelength_of_pair(rows, rows.width / 2 - 1);
  const double stated = whole_turn * 10000;
  return {std::abs(longest / stated - 1) < 1e-3 ? ClaimVerdict::is_true : ClaimVerdict::is_false,
          fmt::format("the longest of width {} is {:.0f}; 2π·10000^({}/{}) = {:.0f}, 10000·2π = {:.0f}",
                      rows.width, longest, rows.width - 2, rows.width,
                      whole_turn * std::pow(10000.0, 1 - 2 / static_cast<double>(rows.width)), stated)};
}

ClaimFinding sinusoid_counts_features(const VectorTable& rows) {
  double by_feature = 0, by_pair = 0;  // the largest ratio of stated and measured wavelength, as |ln|
  for (Index pair = 1; pair < rows.width / 2; ++pair) {
    const double measured = std::log(wavelength_of_pair(rows, pair) / whole_turn);
    const auto stated = [&](Index i) {
      return std::log(10000.0) * 2 * static_cast<double>(i) / static_cast<double>(rows.width);
    };
    by_feature = std::max(by_feature, std::abs(stated(2 * pair) - measured));
    by_pair = std::max(by_pair, std::abs(stated(pair) - measured));
  }
  return {by_feature < by_pair ? ClaimVerdict::is_true : ClaimVerdict::is_false,
          fmt::format("with i the pair, 0 … {}, wavelengths fit within {:.2g} of themselves; with i the "
                      "feature they are wrong by a factor of up to {:.0f} (width {})",
                      rows.width / 2 - 1, std::expm1(by_pair), std::exp(by_feature), rows.width)};
}

ClaimFinding sinusoid_shift_is_linear(const VectorTable& rows) {
  double largest = 0;
  for (const Index shift : {Index{1}, Index{7}, Index{64}}) {
    for (Index row = 0; row + shift < rows.count; ++row) {
      for (Index at = 0; at + 1 < rows.width; at += 2) {
        const double sine = feature(rows, shift, at), cosine = feature(rows, shift, at + 1);
        const double x = feature(rows, row, at), y = feature(rows, row, at + 1);
        largest = std::max({largest, std::abs(x * cosine + y * sine - feature(rows, row + shift, at)),
                            std::abs(y * cosine - x * sine - feature(rows, row + shift, at + 1))});
      }
    }
  }
  return {largest <= 1e-5 ? ClaimVerdict::is_true : ClaimVerdict::is_false,
          fmt::format("largest residual {:.2g} over shifts of 1, 7 and 64 and {} positions (width {})",
                      largest, rows.count, rows.width)};
}

ClaimFinding sinusoid_is_symmetric(const VectorTable& rows) {
  double largest = 0;
  const Index middle = rows.count / 2;
  for (Index distance = 1; distance < middle; ++distance) {
    largest = std::max(largest, std::abs(product(rows, middle, middle + distance) -
                                         product(rows, middle, middle - distance)));
  }
  largest /= product(rows, middle, middle);
  return {largest <= 1e-5 ? ClaimVerdict::is_true : ClaimVerdict::is_false,
          fmt::format("the products with the position d before and d behind differ by at most {:.2g} of the "
                      "squared norm, d up to {}",
                      largest, middle - 1)};
}

std::vector<Claim> sinusoid_claims() {
  return {
      {.id = "sinusoid-zero",
       .statement = "The sinusoidal encoding of position 0 is the zero vector",
       .source = "circulating: blog posts and code walk-throughs",
       .computed = "Row 0 of the table of width 128. True if every number of it is 0.",
       .kinds = {"sinusoidal"},
       .compute = [] { return sinusoid_begins_at_zero(sinusoid_rows(128, 1)); }},
      {.id = "sinusoid-monotone",
       .statement = "The inner product of two sinusoidal rows falls monotonically with their distance",
       .source = "circulating: blog posts and question lists on positional encodings",
       .computed = "PE(0)·PE(d) for d = 0 … 1023 at width 128. True if it never rises from one distance to "
                   "the next, true on average if its means over the distances 1, 2-3, 4-7, … all fall.",
       .kinds = {"sinusoidal"},
       .compute = [] { return sinusoid_product_falls(sinusoid_rows(128, 1024)); }},
      {.id = "sinusoid-wavelengths",
       .statement = "Wavelengths of the sinusoids go from 2π to 10000·2π",
       .source = "Vaswani et al. 2017, arXiv:1706.03762, section 3.5",
       .computed = "The wavelength of the slowest pair of width 512, from its angle in rows up to 4096. True "
                   "if it is within a thousandth of 10000·2π.",
       .kinds = {"sinusoidal"},
       .compute = [] { return sinusoid_reaches_base(sinusoid_rows(512, 4097)); }},
      {.id = "sinusoid-index",
       .statement = "In 10000^(2i/d) the index i is the number of the feature, 0 … d - 1",
       .source = "circulating: \"i: dimension index\" in blog posts",
       .computed =
           "The wavelength of every pair of width 128, from its angle in rows up to 4096, against "
           "2π·10000^(2i/d) with i the number of the feature, and with i the number of the pair. True if the "
           "first fits better.",
       .kinds = {"sinusoidal"},
       .compute = [] { return sinusoid_counts_features(sinusoid_rows(128, 4097)); }},
      {.id = "sinusoid-shift",
       .statement = "PE(t + k) is a linear function of PE(t), the same one for every t",
       .source = "Vaswani et al. 2017, arXiv:1706.03762, section 3.5",
       .computed = "For k = 1, 7, 64 the map that turns every pair by the sine and cosine which stand in row "
                   "k, applied to every row up to 1023 of width 128. True if it misses the row k later by at "
                   "most 1e-5.",
       .kinds = {"sinusoidal"},
       .compute = [] { return sinusoid_shift_is_linear(sinusoid_rows(128, 1024)); }},
      {.id = "sinusoid-direction",
       .statement =
           "The inner product of sinusoidal rows tells a distance, but not which of the two is first",
       .source = "Yan et al. 2019 (TENER), arXiv:1911.04474, section 3",
       .computed = "PE(t)·PE(t + d) and PE(t)·PE(t - d) at t = 512, d = 1 … 511, width 128. True if they are "
                   "equal within 1e-5 of the squared norm of a row.",
       .kinds = {"sinusoidal"},
       .compute = [] { return sinusoid_is_symmetric(sinusoid_rows(128, 1024)); }},
  };
}

}  // namespace tapeline
