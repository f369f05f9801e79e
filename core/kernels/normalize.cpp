#include "core/kernels/normalize.h"

#include <algorithm>
#include <cmath>

#include "core/kernels/instruction_sets.h"
#include "core/kernels/rows.h"
#include "core/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/normalize.cpp"
#include "hwy/foreach_target.h"

#include "core/kernels/vector_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tapeline::inline TAPELINE_PRECISION {
namespace HWY_NAMESPACE {

Real sum_of_row(const Real* x, Index width) {
  auto sum = every(0);
  for_each_vector(width, [&](auto lanes, Index j) HWY_ATTR { sum = hn::Add(sum, lanes.load(x + j)); });
  return sum_of_lanes(sum);
}

void normalize_rows(const NormalizeForward& a, Index begin, Index end) {
  const double scale = 1.0 / static_cast<double>(a.width);
  for (Index row = begin; row < end; ++row) {
    const Real* x = a.x + row * a.width;
    Real* y = a.y + row * a.width;
    Real mean = a.mean == nullptr ? Real{0} : static_cast<Real>(sum_of_row(x, a.width) * scale);
    // The sums of the centred values and of their squares: the first mends what rounding left of the mean.
    auto sums = every(0);
    auto squares = every(0);
    const auto first_mean = hn::Set(RealTag(), mean);
    for_each_vector(a.width, [&](auto lanes, Index j) HWY_ATTR {
      const auto centred = lanes.keep(hn::Sub(lanes.load(x + j), first_mean));
      sums = hn::Add(sums, centred);
      squares = hn::MulAdd(centred, centred, squares);
    });
    double mean_square = sum_of_lanes(squares) * scale;
    if (a.mean != nullptr) {
      const double rest = sum_of_lanes(sums) * scale;
      mean_square = std::max(0.0, mean_square - rest * rest);
      mean += static_cast<Real>(rest);
      a.mean[row] = mean;
    }
    const Real rstd = static_cast<Real>(1.0 / std::sqrt(mean_square + a.epsilon));
    a.rstd[row] = rstd;
    const auto means = hn::Set(RealTag(), mean);
    const auto rstds = hn::Set(RealTag(), rstd);
    for_each_vector(a.width, [&](auto lanes, Index j) HWY_ATTR {
      const auto normal = hn::Mul(hn::Sub(lanes.load(x + j), means), rstds);
      const auto gain = lanes.load(a.gain + j);
      const auto result =
          a.shift == nullptr ? hn::Mul(normal, gain) : hn::MulAdd(normal, gain, lanes.load(a.shift + j));
      lanes.store(result, y + j);
    });
  }
}

// d_gain and d_shift, where present, are this worker's partial sums.
void normalize_gradient_rows(const NormalizeBackward& a, Index begin, Index end, Real* d_gain,
                             Real* d_shift) {
  const Real scale = Real{1} / static_cast<Real>(a.width);
  for (Index row = begin; row < end; ++row) {
    const Real* x = a.x + row * a.width;
    const Real* d_y = a.d_y + row * a.width;
    const auto mean = hn::Set(RealTag(), a.mean == nullptr ? Real{0} : a.mean[row]);
    const auto rstd = hn::Set(RealTag(), a.rstd[row]);
    auto sum_g = every(0);
    auto sum_gn = every(0);
    for_each_vector(a.width, [&](auto lanes, Index j) HWY_ATTR {
      const auto normal = hn::Mul(hn::Sub(lanes.load(x + j), mean), rstd);
      const auto dy = lanes.load(d_y + j);
      const auto g = hn::Mul(dy, lanes.load(a.gain + j));
      sum_g = hn::Add(sum_g, g);
      sum_gn = hn::MulAdd(g, normal, sum_gn);
      if (d_gain != nullptr) lanes.store(hn::MulAdd(dy, normal, lanes.load(d_gain + j)), d_gain + j);
      if (d_shift != nullptr) lanes.store(hn::Add(dy, lanes.load(d_shift + j)), d_shift + j);
    });
    if (a.d_x == nullptr) continue;
    Real* d_x = a.d_x + row * a.width;
    const auto mean_g = hn::Set(RealTag(), a.mean == nullptr ? Real{0} : sum_of_lanes(sum_g) * scale);
    const auto mean_gn = hn::Set(RealTag(), sum_of_lanes(sum_gn) * scale);
    for_each_vector(a.width, [&](auto lanes, Index j) HWY_ATTR {
      const auto normal = hn::Mul(hn::Sub(lanes.load(x + j), mean), rstd);
      const auto g = hn::Mul(lanes.load(d_y + j), lanes.load(a.gain + j));
      const auto inner = hn::NegMulAdd(normal, mean_gn, hn::Sub(g, mean_g));
      const auto result =
          a.d_x_beta == Real{0} ? hn::Mul(inner, rstd) : hn::MulAdd(inner, rstd, lanes.load(d_x + j));
      lanes.store(result, d_x + j);
    });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tapeline::inline TAPELINE_PRECISION
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tapeline::inline TAPELINE_PRECISION {

HWY_EXPORT(normalize_rows);
HWY_EXPORT(normalize_gradient_rows);

namespace {
constexpr Index numbers_a_share = 1 << 13;
Index norm_grain(Index width) { return std::max<Index>(1, numbers_a_share / std::max<Index>(1, width)); }
}  // namespace

void normalize_forward(const NormalizeForward& a) {
  if (a.width == 0) return;
  parallel_for(a.rows, norm_grain(a.width), [&](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(normalize_rows)(a, begin, end);
  });
}

Index normalize_backward_scratch(Index width) { return 2 * thread_count() * width; }

void normalize_backward(const NormalizeBackward& a) {
  if (a.width == 0) return;
  const Index partials = thread_count() * a.width;  // those of d_gain, then those of d_shift
  const int workers = parallel_shares(a.rows, norm_grain(a.width), [&](int worker, Index begin, Index end) {
    Real* d_gain = a.d_gain == nullptr ? nullptr : a.scratch + worker * a.width;
    Real* d_shift = a.d_shift == nullptr ? nullptr : a.scratch + partials + worker * a.width;
    if (d_gain != nullptr) std::fill_n(d_gain, a.width, Real{0});
    if (d_shift != nullptr) std::fill_n(d_shift, a.width, Real{0});
    HWY_DYNAMIC_DISPATCH(normalize_gradient_rows)(a, begin, end, d_gain, d_shift);
  });
  if (a.d_gain != nullptr) add_partial_sums(a.scratch, workers, a.width, a.d_gain_beta, a.d_gain);
  if (a.d_shift != nullptr)
    add_partial_sums(a.scratch + partials, workers, a.width, a.d_shift_beta, a.d_shift);
}

}  // namespace tapeline::inline TAPELINE_PRECISION
#endif
