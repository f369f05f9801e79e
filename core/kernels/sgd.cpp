#include "core/kernels/sgd.h"

#include "core/kernels/instruction_sets.h"
#include "core/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/sgd.cpp"
#include "hwy/foreach_target.h"

#include "core/kernels/vector_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tapeline::inline TAPELINE_PRECISION {
namespace HWY_NAMESPACE {

void sgd_range(const Sgd& u, const SgdSpans& s, Index begin, Index end) {
  const auto scale = every(u.gradient_scale), momentum = every(u.momentum);
  const auto rate = every(u.lr), kept = every(1 - u.lr * u.decay);
  const auto lowest = hn::Set(RealTag(), u.lowest), highest = hn::Set(RealTag(), u.highest);
  for_each_vector(end - begin, [&](auto lanes, Index i) HWY_ATTR {
    i += begin;
    const auto g = hn::Mul(lanes.load(s.gradient + i), scale);
    const auto velocity = hn::MulAdd(momentum, lanes.load(s.velocity + i), g);
    const auto value = hn::NegMulAdd(rate, velocity, hn::Mul(lanes.load(s.value + i), kept));
    lanes.store(bounded(value, lowest, highest), s.value + i);
    lanes.store(velocity, s.velocity + i);
    lanes.store(every(0), s.gradient + i);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace tapeline::inline TAPELINE_PRECISION
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tapeline::inline TAPELINE_PRECISION {

HWY_EXPORT(sgd_range);

namespace {
constexpr Index numbers_a_share = 1 << 13;
}

void sgd(const Sgd& update, const SgdSpans& spans) {
  parallel_for(spans.count, numbers_a_share, [&](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(sgd_range)(update, spans, begin, end);
  });
}

}  // namespace tapeline::inline TAPELINE_PRECISION
#endif
