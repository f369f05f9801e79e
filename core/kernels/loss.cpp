#include "core/kernels/loss.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/kernels/instruction_sets.h"
#include "core/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/loss.cpp"
#include "hwy/foreach_target.h"

#include "core/kernels/exponential-inl.h"
#include "core/kernels/vector_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tapeline::inline TAPELINE_PRECISION {
namespace HWY_NAMESPACE {

// Adds the bias and returns the maximum; NaN when a logit is NaN. A vector maximum may drop a NaN, so it is
// looked for here.
Real bias_and_maximum(Real* logits, const Real* bias, Index count) {
  auto largest = every(-std::numeric_limits<double>::infinity());
  auto spoiled = hn::Ne(largest, largest);
  for_each_vector(count, [&](auto lanes, Index j) HWY_ATTR {
    auto z = lanes.load(logits + j);
    if (bias != nullptr) {
      z = hn::Add(z, lanes.load(bias + j));
      lanes.store(z, logits + j);
    }
    spoiled = hn::Or(spoiled, hn::Ne(z, z));
    // Lanes past the end repeat the first logit.
    if constexpr (std::is_same_v<decltype(lanes), PartOfVector>)
      z = hn::IfThenElse(lanes.mask(), z, hn::Set(RealTag(), logits[0]));
    largest = hn::Max(largest, z);
  });
  return hn::AllFalse(RealTag(), spoiled) ? largest_lane(largest) : std::numeric_limits<Real>::quiet_NaN();
}

// The sum of exp(logit - largest); the exponentials replace the logits when `keep`.
Real exponentials(Real* logits, Index count, Real largest, bool keep) {
  const RealTag d;
  const auto shift = hn::Set(d, largest);
  auto sum = every(0);
  for_each_vector(count, [&](auto lanes, Index j) HWY_ATTR {
    const auto e = lanes.keep(exponential(d, hn::Sub(lanes.load(logits + j), shift)));
    if (keep) lanes.store(e, logits + j);
    sum = hn::Add(sum, e);
  });
  return sum_of_lanes(sum);
}

void scale_row(Real* row, Index count, Real factor) {
  const auto factors = hn::Set(RealTag(), factor);
  for_each_vector(count, [&](auto lanes, Index j)
                             HWY_ATTR { lanes.store(hn::Mul(lanes.load(row + j), factors), row + j); });
}

void softmax_loss_rows(const SoftmaxLoss& a, Index begin, Index end) {
  for (Index row = begin; row < end; ++row) {
    Real* logits = a.logits + row * a.vocabulary;
    const Token target = a.targets[row];
    if (target < 0) {
      a.losses[row] = 0;
      if (a.gradient) std::fill_n(logits, a.vocabulary, Real{0});
      continue;
    }
    const Real largest = bias_and_maximum(logits, a.bias, a.vocabulary);
    if (!std::isfinite(largest)) {
      a.losses[row] = std::numeric_limits<double>::quiet_NaN();
      if (a.gradient) std::fill_n(logits, a.vocabulary, std::numeric_limits<Real>::quiet_NaN());
      continue;
    }
    const double at_target = logits[target];
    const Real sum = exponentials(logits, a.vocabulary, largest, a.gradient);
    a.losses[row] = std::log(static_cast<double>(sum)) + (static_cast<double>(largest) - at_target);
    if (!a.gradient) continue;
    scale_row(logits, a.vocabulary, Real{1} / sum);
    logits[target] -= Real{1};
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tapeline::inline TAPELINE_PRECISION
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tapeline::inline TAPELINE_PRECISION {

HWY_EXPORT(softmax_loss_rows);

void softmax_loss(const SoftmaxLoss& a) {
  constexpr Index numbers_a_share = 1 << 12;
  parallel_for(a.rows, numbers_a_share / std::max<Index>(1, a.vocabulary), [&](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(softmax_loss_rows)(a, begin, end);
  });
}

}  // namespace tapeline::inline TAPELINE_PRECISION
#endif
