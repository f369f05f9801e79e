#include "core/kernels/adamw.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "core/error.h"
#include "core/kernels/instruction_sets.h"
#include "core/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/adamw.cpp"
#include "hwy/foreach_target.h"

#include "core/kernels/vector_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tapeline::inline TAPELINE_PRECISION {
namespace HWY_NAMESPACE {

void adamw_range(const AdamW& u, const AdamWSpans& s, Index begin, Index end) {
  const auto scale = every(u.gradient_scale);
  const auto beta1 = every(u.beta1), rest1 = every(1 - u.beta1);
  const auto beta2 = every(u.beta2), rest2 = every(1 - u.beta2);
  const double step = static_cast<double>(u.step);
  const auto rate = every(u.lr / (1 - std::pow(u.beta1, step)));
  const auto correction2 = every(1 / (1 - std::pow(u.beta2, step)));
  const auto epsilon = every(u.epsilon);
  const auto kept = every(1 - u.lr * u.decay);
  const auto lowest = hn::Set(RealTag(), u.lowest), highest = hn::Set(RealTag(), u.highest);
  for_each_vector(end - begin, [&](auto lanes, Index i) HWY_ATTR {
    i += begin;
    const auto g = hn::Mul(lanes.load(s.gradient + i), scale);
    const auto m = hn::MulAdd(beta1, lanes.load(s.first_moment + i), hn::Mul(rest1, g));
    const auto v = hn::MulAdd(beta2, lanes.load(s.second_moment + i), hn::Mul(rest2, hn::Mul(g, g)));
    const auto spread = hn::Add(hn::Sqrt(hn::Mul(v, correction2)), epsilon);
    const auto old = hn::Mul(lanes.load(s.value + i), kept);
    const auto value = hn::Sub(old, hn::Div(hn::Mul(rate, m), spread));
    lanes.store(bounded(value, lowest, highest), s.value + i);
    lanes.store(m, s.first_moment + i);
    lanes.store(v, s.second_moment + i);
    lanes.store(every(0), s.gradient + i);
  });
}

double squares_range(const Real* x, Index count) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<Real, hn::ScalableTag<double>> narrow;
  const Index lanes = static_cast<Index>(hn::Lanes(d));
  auto even = hn::Zero(d), odd = hn::Zero(d);
  const auto load = [&](const auto* from) HWY_ATTR {
    if constexpr (std::is_same_v<decltype(from), const double*>) {
      return hn::LoadU(d, from);
    } else {
      return hn::PromoteTo(d, hn::LoadU(narrow, from));
    }
  };
  Index i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    const auto first = load(x + i), second = load(x + i + lanes);
    even = hn::MulAdd(first, first, even);
    odd = hn::MulAdd(second, second, odd);
  }
  double sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
  for (; i < count; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return sum;
}

}  // namespace HWY_NAMESPACE
}  // namespace tapeline::inline TAPELINE_PRECISION
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tapeline::inline TAPELINE_PRECISION {

HWY_EXPORT(adamw_range);
HWY_EXPORT(squares_range);

namespace {
constexpr Index numbers_a_share = 1 << 13;
}

void adamw(const AdamW& update, const AdamWSpans& spans) {
  require<StateError>(update.step >= 1, "adamw: step is {}; steps are counted from 1", update.step);
  parallel_for(spans.count, numbers_a_share, [&](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(adamw_range)(update, spans, begin, end);
  });
}

SquaredNorm squared_norm(const Real* x, Index count) {
  // Blocks of one size, added in order: one sum for every thread count, and no memory of the heap.
  constexpr Index most_blocks = 1024;
  std::array<double, most_blocks> sums{};
  const Index block = std::max<Index>(numbers_a_share, (count + most_blocks - 1) / most_blocks);
  const Index blocks = (count + block - 1) / block;
  parallel_for(blocks, 1, [&](Index begin, Index end) {
    for (Index b = begin; b < end; ++b)
      sums[static_cast<std::size_t>(b)] =
          HWY_DYNAMIC_DISPATCH(squares_range)(x + b * block, std::min(block, count - b * block));
  });
  SquaredNorm result;
  for (Index b = 0; b < blocks; ++b) result.sum += sums[static_cast<std::size_t>(b)];
  if (!std::isfinite(result.sum)) {
    for (Index i = 0; i < count; ++i) result.non_finite += std::isfinite(x[i]) ? 0 : 1;
  }
  return result;
}

}  // namespace tapeline::inline TAPELINE_PRECISION
#endif
