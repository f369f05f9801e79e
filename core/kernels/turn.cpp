#include "core/kernels/turn.h"

#include <algorithm>

#include "core/kernels/instruction_sets.h"
#include "core/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/turn.cpp"
#include "hwy/foreach_target.h"

#include "core/kernels/vector_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tapeline::inline TAPELINE_PRECISION {
namespace HWY_NAMESPACE {

template <bool accumulate>
HWY_INLINE void put(auto lanes, RealVector value, Real* to) {
  if constexpr (accumulate) value = hn::Add(value, lanes.load(to));
  lanes.store(value, to);
}

// One row of one head. `sign` is 1, or -1 for the transposed map.
template <bool accumulate>
HWY_INLINE void turn_row(const Turn& turn, Real sign, Index row, const Real* from, Real* to, Index width) {
  const Index pairs = turn.width / 2;
  const Real* const cosine = turn.cosine + row * pairs;
  const Real* const sine = turn.sine + row * pairs;
  if (turn.pairing == Pairing::half) {
    for_each_vector(pairs, [&](auto lanes, Index p) HWY_ATTR {
      const auto c = lanes.load(cosine + p), s = hn::Mul(lanes.load(sine + p), hn::Set(RealTag(), sign));
      const auto x = lanes.load(from + p), y = lanes.load(from + pairs + p);
      put<accumulate>(lanes, hn::NegMulAdd(y, s, hn::Mul(x, c)), to + p);
      put<accumulate>(lanes, hn::MulAdd(x, s, hn::Mul(y, c)), to + pairs + p);
    });
  } else {  // neighbours: taken apart on the way in, put together on the way out
    const RealTag d;
    const auto lanes = static_cast<Index>(hn::Lanes(d));
    Index p = 0;
    for (; p + lanes <= pairs; p += lanes) {
      RealVector x, y;
      hn::LoadInterleaved2(d, from + 2 * p, x, y);
      const auto c = hn::LoadU(d, cosine + p), s = hn::Mul(hn::LoadU(d, sine + p), hn::Set(d, sign));
      auto a = hn::NegMulAdd(y, s, hn::Mul(x, c)), b = hn::MulAdd(x, s, hn::Mul(y, c));
      if constexpr (accumulate) {
        RealVector old_a, old_b;
        hn::LoadInterleaved2(d, to + 2 * p, old_a, old_b);
        a = hn::Add(a, old_a), b = hn::Add(b, old_b);
      }
      hn::StoreInterleaved2(a, b, d, to + 2 * p);
    }
    for (; p < pairs; ++p) {
      const Real c = cosine[p], s = sign * sine[p], x = from[2 * p], y = from[2 * p + 1];
      const Real a = x * c - y * s, b = y * c + x * s;
      to[2 * p] = accumulate ? to[2 * p] + a : a;
      to[2 * p + 1] = accumulate ? to[2 * p + 1] + b : b;
    }
  }
  for_each_vector(width - turn.width, [&](auto lanes, Index i) HWY_ATTR {
    put<accumulate>(lanes, lanes.load(from + turn.width + i), to + turn.width + i);
  });
}

template <bool accumulate>
void turn_rows(const TurnedHeads& w, Index begin, Index end) {
  const Real sign = w.direction == TurnDirection::forward ? Real{1} : Real{-1};
  for (Index row = begin; row < end; ++row) {
    const Index sequence = row / w.time, time = row % w.time;
    for (Index head = 0; head < w.heads; ++head) {
      turn_row<accumulate>(w.turn, sign, time, w.from + w.from_rows.at(sequence, head, time),
                           w.to + w.to_rows.at(sequence, head, time), w.width);
    }
  }
}

void turn_share(const TurnedHeads& w, Index begin, Index end) {
  w.accumulate ? turn_rows<true>(w, begin, end) : turn_rows<false>(w, begin, end);
}

}  // namespace HWY_NAMESPACE
}  // namespace tapeline::inline TAPELINE_PRECISION
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tapeline::inline TAPELINE_PRECISION {

HWY_EXPORT(turn_share);

void turn_heads(const TurnedHeads& work) {
  constexpr Index numbers_a_share = 1 << 13;
  parallel_for(work.batch * work.time, numbers_a_share / std::max<Index>(1, work.heads * work.width),
               [&](Index begin, Index end) {
                 HWY_DYNAMIC_DISPATCH(turn_share)
                 (work, begin, end);
               });
}

}  // namespace tapeline::inline TAPELINE_PRECISION
#endif
