#include "core/kernels/lion.h"

#include "core/kernels/instruction_sets.h"
#include "core/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/lion.cpp"
#include "hwy/foreach_target.h"

#include "core/kernels/vector_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tapeline::inline TAPELINE_PRECISION {
namespace HWY_NAMESPACE {

void lion_range(const Lion& u, const LionSpans& s, Index begin, Index end) {
  const auto scale = every(u.gradient_scale);
  const auto beta1 = every(u.beta1), rest1 = every(1 - u.beta1);
  const auto beta2 = every(u.beta2), rest2 = every(1 - u.beta2);
  const auto rate = every(u.lr), kept = every(1 - u.lr * u.decay), zero = every(0);
  const auto lowest = hn::Set(RealTag(), u.lowest), highest = hn::Set(RealTag(), u.highest);
  for_each_vector(end - begin, [&](auto lanes, Index i) HWY_ATTR {
    i += begin;
    const auto g = hn::Mul(lanes.load(s.gradient + i), scale);
    const auto m = lanes.load(s.moment + i);
    const auto direction = hn::MulAdd(beta1, m, hn::Mul(rest1, g));
    const auto step = hn::IfThenZeroElse(hn::Eq(direction, zero), hn::CopySign(rate, direction));
    const auto value = hn::Sub(hn::Mul(lanes.load(s.value + i), kept), step);
    lanes.store(bounded(value, lowest, highest), s.value + i);
    lanes.store(hn::MulAdd(beta2, m, hn::Mul(rest2, g)), s.moment + i);
    lanes.store(zero, s.gradient + i);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace tapeline::inline TAPELINE_PRECISION
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tapeline::inline TAPELINE_PRECISION {

HWY_EXPORT(lion_range);

namespace {
constexpr Index numbers_a_share = 1 << 13;
}

void lion(const Lion& update, const LionSpans& spans) {
  parallel_for(spans.count, numbers_a_share, [&](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(lion_range)(update, spans, begin, end);
  });
}

}  // namespace tapeline::inline TAPELINE_PRECISION
#endif
